import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { bookingQueries } from '@/api/queries/bookings';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { useMay } from '@/app/me';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { isCarriedOut, standingOf } from '@/pages/called-off/standing';

type Booking = Schemas['Booking'];

/** The trip of a booking as the catalogue has it or, when it is not there any more, as its cancellation names it. */
export function useTripOf({ trip_id }: Booking) {
  const may = useMay();
  const trip = useQuery(bookingQueries.trip(trip_id));
  const gone = trip.error instanceof ApiError && trip.error.status === 404;
  const off = useQuery({ ...tripCancellationQueries.newestOf(trip_id), enabled: gone && may('ListTripCancellations') });
  return { trip, off: gone ? (off.data ?? null) : null };
}

export type TripOf = ReturnType<typeof useTripOf>;

/** That the trip is called off, or may be: the state of the booking does not say so. */
export function TripOff({ off }: { off: TripOf['off'] }) {
  const { t, language } = useWords();
  const standing = off && standingOf(off);
  if (!off || !standing || (standing !== 'waits' && !isCarriedOut(standing))) return null;
  const at = standing === 'waits' ? off.approval_until : (off.done_at ?? off.decided_at ?? off.requested_at);
  return (
    <p className={ui.notice} role="status">
      {t(standing === 'waits' ? 'booking.off.waits' : 'booking.off.done', { when: at ? momentText(at, language) : '' })}{' '}
      {t('booking.off.reason', { reason: `\u2068${off.reason}\u2069` })}{' '}
      <Link to={`/trip-cancellations/${off.trip_id}`}>{t('calledOff.show')}</Link>
    </p>
  );
}
