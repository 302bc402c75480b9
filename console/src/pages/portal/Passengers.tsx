import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { listPage } from '@/api/client';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';

/** Who travels on a trip, by booking, for the company that runs it. */
export function Passengers({ tripId }: { tripId: string }) {
  const { t, label } = useWords();
  const may = useMay()('ListTripBookings');
  const { data, ...list } = useInfiniteQuery({
    queryKey: ['bookings', 'of-trip', tripId],
    queryFn: ({ pageParam, signal }) =>
      listPage('/api/v1/provider/trips/{id}/bookings', {}, pageParam, signal, { id: tripId }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next_cursor,
    enabled: may,
  });
  if (!may) return null;
  const rows = data?.pages.flatMap((page) => page.data);
  return (
    <section className={ui.stack} aria-label={t('portal.bookings')}>
      <h2 className={ui.subhead}>{t('portal.bookings')}</h2>
      <Answer query={{ ...list, data: rows }}>
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
      {list.hasNextPage && (
        <div>
          <Button
            size="compact-xs"
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t('list.more')}
          </Button>
        </div>
      )}
    </section>
  );
}
