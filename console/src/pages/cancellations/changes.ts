import { bookingQueries } from '@/api/queries/bookings';
import { cancellationQueries } from '@/api/queries/cancellations';
import { dashboardQueries } from '@/api/queries/dashboard';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { refundQueries } from '@/api/queries/refunds';

/** Everything that a cancellation changes. */
export const cancellationChanges = [
  cancellationQueries.all,
  bookingQueries.all,
  refundQueries.all,
  paymentQueries.all,
  recordQueries.all,
  dashboardQueries.all,
];
