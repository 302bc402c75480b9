import { useQuery } from '@tanstack/react-query';
import { may } from '@/api/access';
import { listPage } from '@/api/client';
import type { Me } from '@/api/identity';

/** How many refunds wait for an approval, for those who may give it; 0 for everyone else. */
export function useApprovals(me: Me): number {
  const { data } = useQuery({
    // What is decided on any page changes it, too.
    queryKey: ['refunds', 'approvals'],
    queryFn: async ({ signal }) =>
      (await listPage('/api/v1/admin/refunds', { needs_approval: 'true' }, null, signal)).meta.total,
    enabled: !me.second_factor_needed && may(me.role, 'ApproveRefund') && may(me.role, 'ListRefunds'),
    refetchInterval: 60_000,
  });
  return data ?? 0;
}
