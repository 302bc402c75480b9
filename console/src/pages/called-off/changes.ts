import { bookingQueries } from '@/api/queries/bookings';
import { dashboardQueries } from '@/api/queries/dashboard';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { refundQueries } from '@/api/queries/refunds';
import { campaigns, trips } from '@/api/queries/resources';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';

/** Everything that calling a trip off changes, at once and by its workflow. */
export const calledOffChanges = [
  tripCancellationQueries.all,
  trips.list.queryKey,
  campaigns.list.queryKey,
  bookingQueries.all,
  refundQueries.all,
  paymentQueries.all,
  recordQueries.all,
  dashboardQueries.all,
];
