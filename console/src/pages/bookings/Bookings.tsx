import { useMemo } from 'react';
import { Link, useNavigate } from 'react-router';
import type { Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { Badge } from '@/components/Badge';
import { CopyId } from '@/components/CopyId';
import type { Column } from '@/components/columns';
import { ListPage } from '@/components/ListPage';
import { Money } from '@/components/Money';
import { When } from '@/components/When';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';

type Booking = Schemas['Booking'];

const card = { title: ['contact'], amount: 'amount', badge: 'status', meta: ['number', 'departure'] };

export function Component() {
  const { t } = useWords();
  const navigate = useNavigate();
  const { states } = useChoices();
  const base = useBaseFilters();
  const providers = useProviders();
  const columns = useColumns();
  return (
    <ListPage
      name="bookings"
      filters={[
        // The search above all pages is this list's.
        { name: 'search', label: t('list.search'), kind: 'given' },
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('booking') },
        base.from,
        base.to,
        providers.filter,
        { name: 'trip_id', label: t('field.trip'), kind: 'given' },
      ]}
      columns={columns}
      card={card}
      list={bookingQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={({ id }) => void navigate(`/bookings/${id}`)}
    />
  );
}

function useColumns(): Column<Booking>[] {
  const { t, label, language } = useWords();
  return useMemo(
    () => [
      {
        id: 'number',
        header: t('field.bookingNumber'),
        width: 8.5,
        cell: ({ id, booking_number }) => (
          <>
            <Link to={`/bookings/${id}`} tabIndex={-1} className="ltr">
              {booking_number}
            </Link>
            <CopyId id={booking_number} iconOnly />
          </>
        ),
        text: ({ booking_number }) => booking_number,
      },
      {
        id: 'status',
        header: t('field.status'),
        width: 10,
        cell: (row) => <Badge state={row.status}>{label(row, 'status')}</Badge>,
        text: (row) => label(row, 'status'),
      },
      {
        id: 'contact',
        header: t('field.customer'),
        width: 6.75,
        cell: (row) => <bdi>{row.contact.name}</bdi>,
        text: (row) => row.contact.name,
      },
      {
        id: 'phone',
        header: t('field.phone'),
        width: 8.75,
        cell: (row) => <bdi className="ltr">{row.contact.phone}</bdi>,
        text: (row) => row.contact.phone,
      },
      {
        id: 'email',
        header: t('field.email'),
        width: 14,
        hidden: true,
        cell: (row) => <bdi className="ltr">{row.contact.email}</bdi>,
        text: (row) => row.contact.email,
      },
      {
        id: 'seats',
        header: t('field.seats'),
        width: 3.75,
        align: 'end',
        cell: ({ seats }) => seats,
        text: ({ seats }) => String(seats),
      },
      {
        id: 'amount',
        header: t('field.amount'),
        width: 7.5,
        align: 'end',
        sort: 'amount',
        cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        text: ({ amount }) => amount.toFixed(2),
      },
      {
        id: 'departure',
        header: t('field.departure'),
        width: 10.75,
        sort: 'departure_at',
        cell: ({ departure_at }) => <When at={departure_at} />,
        text: ({ departure_at }) => departure_at,
      },
      {
        id: 'created',
        header: t('field.booked'),
        width: 7.75,
        sort: 'created_at',
        cell: ({ created_at }) => <When at={created_at} relative />,
        text: ({ created_at }) => created_at,
      },
    ],
    // eslint-disable-next-line react-hooks/exhaustive-deps -- words change with the language
    [language],
  );
}
