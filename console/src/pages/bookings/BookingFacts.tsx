import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { Seats } from '@/components/Seats';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';

type Booking = Schemas['Booking'];

export function BookingFacts({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const { payment } = booking;
  return (
    <Card title={t('field.customer')}>
      <Facts
        of={[
          [t('field.name'), <bdi key="v">{booking.contact.name}</bdi>],
          [t('field.phone'), <CopyId key="v" id={booking.contact.phone} />],
          [t('field.email'), <CopyId key="v" id={booking.contact.email} />],
          [
            t('field.passengers'),
            <ul key="v" style={{ margin: 0, paddingInlineStart: '1.1rem' }}>
              {booking.passengers.map(({ name, document_number }, index) => (
                <li key={index}>
                  <bdi>{name}</bdi> {document_number && <bdi className="ltr">{document_number}</bdi>}
                </li>
              ))}
            </ul>,
          ],
          [t('field.amount'), <Money key="v" amount={booking.amount} currency={booking.currency} />],
          [t('card.vat_amount'), <Money key="v" amount={booking.vat_amount} currency={booking.currency} />],
          [t('field.booked'), <When key="v" at={booking.created_at} />],
          // For people who speak with the customer: with the link one can pay, and nothing else.
          [t('field.checkout'), payment.checkout_url && <CopyId key="v" id={payment.checkout_url} whole />],
          [t('field.expires'), payment.checkout_url && <When key="v" at={payment.expires_at} />],
          [t('field.id'), <CopyId key="v" id={booking.id} whole />],
        ]}
      />
    </Card>
  );
}

export function TripFacts({ booking }: { booking: Booking }) {
  const { t, label } = useWords();
  const trip = useQuery(bookingQueries.trip(booking.trip_id));
  const moved = booking.departure_at !== booking.departure_at_booking;
  return (
    <Card title={t('field.trip')}>
      <Facts
        of={[
          [t('field.departure'), <When key="v" at={booking.departure_at} />],
          [t('booking.departureThen'), moved ? <When key="v" at={booking.departure_at_booking} /> : null],
          [t('field.seats'), booking.seats],
          [
            t('booking.sameTrip'),
            <Link key="v" to={`/bookings?trip_id=${booking.trip_id}`}>
              {t('action.open')}
            </Link>,
          ],
        ]}
      />
      {/* A trip that is no longer in the catalogue has no more to show here. */}
      {!trip.isError && (
        <Answer query={trip}>
          {({ data }) => (
            <Facts
              of={[
                [t('field.title'), <bdi key="v">{data.title}</bdi>],
                [t('field.kind'), label(data, 'type')],
                [t('field.route'), <bdi key="v">{`${data.origin} – ${data.destination}`}</bdi>],
                [t('field.provider'), <bdi key="v">{data.provider_name}</bdi>],
                [t('field.seatsLeft'), <Seats key="v" left={data.seats_left} of={data.capacity} />],
              ]}
            />
          )}
        </Answer>
      )}
    </Card>
  );
}
