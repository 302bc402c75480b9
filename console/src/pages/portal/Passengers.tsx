import { bookingQueries } from '@/api/queries/bookings';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer } from '@/components/Card';
import { More } from '@/components/More';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { usePages } from '@/hooks/usePages';
import { useWords } from '@/i18n/useWords';

/** Who travels on a trip, by booking, for the company that runs it. */
export function Passengers({ tripId }: { tripId: string }) {
  const { t, label } = useWords();
  const may = useMay()('ListTripBookings');
  const list = usePages(bookingQueries.ofTrip(tripId), { enabled: may });
  if (!may) return null;
  return (
    <section className={ui.stack} aria-label={t('portal.bookings')}>
      <h2 className={ui.subhead}>{t('portal.bookings')}</h2>
      <Answer query={list}>
        {(found) =>
          found.length === 0 ? (
            <p className="dimmed">{t('portal.noBookings')}</p>
          ) : (
            <ul className={ui.notes}>
              {found.map((booking) => (
                <li key={booking.id}>
                  <span className={ui.row}>
                    <bdi className="ltr">{booking.booking_number}</bdi>
                    <Badge state={booking.status}>{label(booking, 'status')}</Badge>
                    {booking.contact_phone && <bdi className="ltr">{booking.contact_phone}</bdi>}
                    {booking.hold_until && (
                      <span>
                        {t('field.expires')} <When at={booking.hold_until} />
                      </span>
                    )}
                  </span>
                  {booking.passengers.map(({ name, document_number }, index) => (
                    <p key={index}>
                      <bdi>{name}</bdi> {document_number && <bdi className="ltr dimmed">{document_number}</bdi>}
                    </p>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      <More list={list} />
    </section>
  );
}
