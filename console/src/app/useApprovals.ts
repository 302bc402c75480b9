import { useQuery } from '@tanstack/react-query';
import { may } from '@/api/access';
import type { Me } from '@/api/identity';
import { refundQueries } from '@/api/queries/refunds';

/** How many refunds wait for an approval, for those who may give it; 0 for everyone else. */
export function useApprovals(me: Me): number {
  const { data } = useQuery({
    ...refundQueries.approvals(),
    enabled: !me.second_factor_needed && may(me.role, 'ApproveRefund') && may(me.role, 'ListRefunds'),
  });
  return data ?? 0;
}
