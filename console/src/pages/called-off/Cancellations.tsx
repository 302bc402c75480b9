import { useNavigate } from 'react-router';
import type { Schemas } from '@/api/client';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { Badge } from '@/components/Badge';
import type { Column } from '@/components/columns';
import { ListPage } from '@/components/ListPage';
import { Money } from '@/components/Money';
import { When } from '@/components/When';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import { useColumnParts } from '@/shared/columns';

type Cancellation = Schemas['TripCancellation'];

const card = { title: ['trip'], amount: 'refund_total', badge: 'status', meta: ['departure', 'provider'] };

/** The cancellations of all trips; one has a page of its own, by its trip. */
export function Component() {
  const { t } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const providers = useProviders();
  const navigate = useNavigate();
  return (
    <ListPage
      name="trip-cancellations"
      filters={[
        {
          name: 'needs_approval',
          label: t('calledOff.badge'),
          kind: 'choice',
          choices: [{ value: 'true', label: t('answer.yes') }],
        },
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('tripCancellation') },
        providers.filter,
        base.period,
        base.from,
        base.to,
        { name: 'trip_id', label: t('field.trip'), kind: 'given' },
      ]}
      columns={useColumns()}
      card={card}
      list={tripCancellationQueries.list}
      rowId={({ id }) => id}
      sort="-requested_at"
      open={({ trip_id }) => void navigate(`/trip-cancellations/${trip_id}`)}
    />
  );
}

function useColumns(): Column<Cancellation>[] {
  const { t, label, language } = useWords();
  const parts = useColumnParts();
  const moment = (
    id: string,
    header: string,
    read: (row: Cancellation) => string | null,
    more: Partial<Column<Cancellation>> = {},
  ): Column<Cancellation> => ({
    id,
    header,
    width: 11,
    cell: (row) => <When at={read(row)} />,
    text: (row) => read(row) ?? '',
    ...more,
  });
  const stateOf = (row: Cancellation) => (row.needs_approval ? t('calledOff.badge') : label(row, 'status'));
  const money = (of: Cancellation, amount: number) => <Money amount={amount} currency={of.currency} />;
  return [
    parts.plain('trip', t('field.trip'), 11, ({ trip_title }) => trip_title),
    {
      ...parts.status<Cancellation>(),
      cell: (row) => <Badge state={row.needs_approval ? 'NEEDS_APPROVAL' : row.status}>{stateOf(row)}</Badge>,
      text: stateOf,
    },
    parts.plain('provider', t('field.provider'), 8, ({ provider_name }) => provider_name),
    moment('departure', t('field.departure'), ({ trip_departure_at }) => trip_departure_at),
    {
      id: 'bookings',
      header: t('nav.bookings'),
      width: 6,
      align: 'end',
      cell: ({ cancelled, bookings }) => (
        <span className="numbers">
          {t('calledOff.doneOf', { done: countText(cancelled, language), total: countText(bookings, language) })}
        </span>
      ),
      text: ({ cancelled, bookings }) => `${String(cancelled)} / ${String(bookings)}`,
    },
    {
      id: 'refund_total',
      header: t('cancellation.refund'),
      width: 8.5,
      align: 'end',
      sort: 'refund_total',
      cell: (row) => money(row, row.refund_total),
      text: ({ refund_total }) => refund_total.toFixed(2),
    },
    moment('requested', t('calledOff.orderedAt'), ({ requested_at }) => requested_at, {
      sort: 'requested_at',
      cell: ({ requested_at }) => <When at={requested_at} relative />,
      width: 8.5,
    }),
    moment('until', t('calledOff.until'), (row) => (row.needs_approval ? row.approval_until : null), {
      cell: (row) => <When at={row.needs_approval ? row.approval_until : null} ahead />,
      hidden: true,
    }),
    {
      id: 'refunded',
      header: t('calledOff.refundedSoFar'),
      width: 8.5,
      align: 'end',
      hidden: true,
      cell: (row) => money(row, row.refunded_total),
      text: ({ refunded_total }) => refunded_total.toFixed(2),
    },
    parts.plain('orderedBy', t('calledOff.orderedBy'), 8, ({ requested_by_name }) => requested_by_name, {
      hidden: true,
    }),
    parts.plain('decidedBy', t('calledOff.decidedBy'), 8, ({ decided_by_name }) => decided_by_name, { hidden: true }),
    moment('decided', t('calledOff.decidedAt'), ({ decided_at }) => decided_at, { hidden: true }),
    parts.plain('reason', t('calledOff.reason'), 10, ({ reason }) => reason, { hidden: true }),
    parts.id(t('field.id'), true),
  ];
}
