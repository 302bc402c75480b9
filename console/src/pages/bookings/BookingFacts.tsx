import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { Seats } from '@/components/Seats';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import type { TripOf } from './TripOff';

type Booking = Schemas['Booking'];

/** Who booked, and how to reach them. `children` is what can be done about it. */
export function BookingFacts({ booking, children }: { booking: Booking; children?: ReactNode }) {
  const { t } = useWords();
  const { payment } = booking;
  return (
    <Card title={t('field.customer')}>
      <Facts
        of={[
          [t('field.name'), <bdi key="v">{booking.contact.name}</bdi>],
          [t('field.phone'), <CopyId key="v" id={booking.contact.phone} />],
          [t('field.email'), <CopyId key="v" id={booking.contact.email} />],
          [t('field.amount'), <Money key="v" amount={booking.amount} currency={booking.currency} />],
          [t('card.vat_amount'), <Money key="v" amount={booking.vat_amount} currency={booking.currency} />],
          [t('field.booked'), <When key="v" at={booking.created_at} />],
          // For people who speak with the customer: with the link one can pay, and nothing else.
          [t('field.checkout'), payment.checkout_url && <CopyId key="v" id={payment.checkout_url} whole />],
          [t('field.expires'), payment.checkout_url && <When key="v" at={payment.expires_at} />],
          [t('field.id'), <CopyId key="v" id={booking.id} whole />],
        ]}
      />
      {children}
    </Card>
  );
}

/** Who travels. Who was cancelled stays to be read, struck through and with the word. */
export function Passengers({ booking }: { booking: Booking }) {
  const { t, label } = useWords();
  return (
    <Card title={t('field.passengers')}>
      <ol className={ui.people}>
        {booking.passengers.map((one, index) => {
          const { name, document_number, status, status_label_ar = '', status_label_en = '' } = one;
          const cancelled = status === 'CANCELLED';
          return (
            <li key={one.id ?? index}>
              {cancelled ? (
                <s>
                  <bdi>{name}</bdi>
                </s>
              ) : (
                <bdi>{name}</bdi>
              )}{' '}
              {document_number && <bdi className="ltr dimmed">{document_number}</bdi>}{' '}
              {cancelled && <Badge state={status}>{label({ status_label_ar, status_label_en }, 'status')}</Badge>}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

export function TripFacts({ booking, of: { trip, off } }: { booking: Booking; of: TripOf }) {
  const { t, label } = useWords();
  const moved = booking.departure_at !== booking.departure_at_booking;
  const found = trip.data?.data;
  const title = found?.title ?? off?.trip_title;
  const [from, to] = [found?.origin ?? off?.trip_origin, found?.destination ?? off?.trip_destination];
  const company = found?.provider_name ?? off?.provider_name;
  return (
    <Card title={t('field.trip')}>
      <Facts
        of={[
          // Of a trip that is no longer in the catalogue there is what its cancellation says, or nothing.
          [t('field.title'), title && <bdi key="v">{title}</bdi>],
          [t('field.kind'), found && label(found, 'type')],
          [t('field.route'), from && <bdi key="v">{`${from} – ${to}`}</bdi>],
          [t('field.departure'), <When key="v" at={booking.departure_at} />],
          [t('booking.departureThen'), moved ? <When key="v" at={booking.departure_at_booking} /> : null],
          [t('field.provider'), company && <bdi key="v">{company}</bdi>],
          [t('field.seatsLeft'), found && <Seats key="v" left={found.seats_left} of={found.capacity} />],
          [
            t('calledOff.title'),
            off && (
              <Link key="v" to={`/trip-cancellations/${booking.trip_id}`}>
                {t('action.open')}
              </Link>
            ),
          ],
          [
            t('booking.sameTrip'),
            <Link key="v" to={`/bookings?trip_id=${booking.trip_id}`}>
              {t('action.open')}
            </Link>,
          ],
        ]}
      />
      {trip.isPending && (
        <Answer query={trip} lines={3}>
          {() => null}
        </Answer>
      )}
    </Card>
  );
}
