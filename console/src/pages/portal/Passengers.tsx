import { Select } from '@mantine/core';
import { IconPhone } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { inOrder } from './travellers';
import classes from './portal.module.css';

type Booking = Schemas['TripBooking'];

/** Who travels on a trip, by booking, for the company that runs it; bookings in other states when they are asked for. */
export function Passengers({ tripId }: { tripId: string }) {
  const { t, language } = useWords();
  const { states } = useChoices();
  const may = useMay()('ListTripBookings');
  const [status, setStatus] = useState('CONFIRMED');
  const list = useQuery({ ...bookingQueries.ofTrip(tripId, status), enabled: may });
  if (!may) return null;
  return (
    <section className={ui.stack} aria-label={t('portal.bookings')}>
      <div className={ui.row}>
        <h2 className={ui.subhead}>{t('portal.bookings')}</h2>
        <Select
          size="xs"
          className={ui.push}
          aria-label={t('field.status')}
          data={[{ value: '', label: t('portal.allStates') }, ...states('booking')]}
          value={status}
          allowDeselect={false}
          onChange={(next) => {
            setStatus(next ?? '');
          }}
        />
      </div>
      <Answer query={list}>
        {(found) => (
          <>
            <p className={ui.text} aria-live="polite">
              {found.length === 0
                ? t(status === '' ? 'portal.noBookings' : 'portal.noneInState')
                : `${t('count.bookings', { count: found.length })} · ${t('count.seats', { count: seatsOf(found) })}`}
            </p>
            <ul className={ui.notes}>
              {inOrder(found, language).map((booking) => (
                <One key={booking.id} booking={booking} />
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

const seatsOf = (bookings: Booking[]) => bookings.reduce((sum, { seats }) => sum + seats, 0);

function One({ booking }: { booking: Booking }) {
  const { t, label } = useWords();
  const { booking_number, seats, contact_phone, hold_until, passengers } = booking;
  return (
    <li>
      <span className={ui.row}>
        <bdi className="ltr">{booking_number}</bdi>
        <span className="dimmed">{t('count.seats', { count: seats })}</span>
        <Badge state={booking.status}>{label(booking, 'status')}</Badge>
      </span>
      {passengers.map(({ name, document_number }, index) => (
        <p key={index}>
          <bdi>{name}</bdi> {document_number && <bdi className="ltr dimmed">{document_number}</bdi>}
        </p>
      ))}
      {contact_phone && (
        <a
          className={classes.call}
          href={`tel:${contact_phone}`}
          aria-label={t('portal.call', { phone: contact_phone })}
        >
          <IconPhone size={16} aria-hidden />
          <bdi className="ltr">{contact_phone}</bdi>
        </a>
      )}
      {hold_until && (
        <p>
          {t('field.expires')} <When at={hold_until} />
        </p>
      )}
    </li>
  );
}
