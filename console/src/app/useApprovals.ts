import { useQuery } from '@tanstack/react-query';
import { may } from '@/api/access';
import { answered, api } from '@/api/client';
import type { Me } from '@/api/identity';

/** The least that a page of a list may have: rows about people are counted, and here the number alone is wanted. */
const fewest = 10;

/** How many refunds wait for an approval, for those who may give it; 0 for everyone else. */
export function useApprovals(me: Me): number {
  const { data } = useQuery({
    // What is decided on any page changes it, too.
    queryKey: ['refunds', 'approvals'],
    queryFn: async ({ signal }) => {
      const query = { needs_approval: true, per_page: fewest };
      return (await answered(api.GET('/api/v1/admin/refunds', { params: { query }, signal }))).meta.total;
    },
    enabled: !me.second_factor_needed && may(me.role, 'ApproveRefund') && may(me.role, 'ListRefunds'),
    staleTime: 60_000,
    refetchInterval: 300_000,
  });
  return data ?? 0;
}
