import { useQuery } from '@tanstack/react-query';
import { may } from '@/api/access';
import type { Me } from '@/api/identity';
import { refundQueries } from '@/api/queries/refunds';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import type { PageName } from './nav';

/** How much waits for an approval, by the page that lists it, for those who may give it; nothing for everyone else. */
export function useApprovals(me: Me): Partial<Record<PageName, number>> {
  const signedIn = !me.second_factor_needed;
  const refunds = useQuery({
    ...refundQueries.approvals(),
    enabled: signedIn && may(me.role, 'ApproveRefund') && may(me.role, 'ListRefunds'),
  });
  const trips = useQuery({
    ...tripCancellationQueries.approvals(),
    enabled: signedIn && may(me.role, 'ApproveTripCancellation') && may(me.role, 'ListTripCancellations'),
  });
  return { refunds: refunds.data ?? 0, 'trip-cancellations': trips.data ?? 0 };
}
