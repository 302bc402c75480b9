import type { Schemas } from '@/api/client';
import { cancellationQueries } from '@/api/queries/cancellations';
import { Beside } from '@/components/Beside';
import type { Column } from '@/components/columns';
import { ListPage } from '@/components/ListPage';
import { Money } from '@/components/Money';
import { When } from '@/components/When';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside } from '@/hooks/useBeside';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { rateText } from '@/lib/money';
import { useColumnParts } from '@/shared/columns';
import { RequestDetail } from './RequestDetail';

type Request = Schemas['CancellationRequest'];

const card = {
  title: ['customer', 'booking'],
  amount: 'refund_amount',
  badge: 'status',
  meta: ['booking', 'departure'],
};

export function Component() {
  const { t } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const providers = useProviders();
  const { open } = useBeside();
  return (
    <ListPage
      name="cancellation-requests"
      filters={[
        base.search(t('cancellation.search')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('cancellation') },
        providers.filter,
      ]}
      defaults={{ status: 'REQUESTED' }}
      columns={useColumns()}
      card={card}
      list={cancellationQueries.list}
      rowId={({ id }) => id}
      sort="requested_at"
      open={open}
      above={({ rows, data }) => (
        // What its approval would do, the list does not know.
        <Beside
          rows={rows}
          read={data !== undefined}
          title={t('cancellation.title')}
          one={cancellationQueries.one}
          saysMore
        >
          {(request, beside) => <RequestDetail request={request} {...beside} />}
        </Beside>
      )}
    />
  );
}

function useColumns(): Column<Request>[] {
  const { t, language } = useWords();
  const parts = useColumnParts();
  const money = (
    name: 'paid_amount' | 'refund_amount' | 'fee_amount',
    header: string,
    more: Partial<Column<Request>> = {},
  ): Column<Request> => ({
    id: name,
    header,
    width: 7,
    align: 'end',
    cell: ({ quote }) => <Money amount={quote[name]} currency={quote.currency} />,
    text: ({ quote }) => quote[name].toFixed(2),
    ...more,
  });
  return [
    { ...parts.booking<Request>(), width: 7 },
    { ...parts.status<Request>(), width: 8 },
    {
      id: 'requested',
      header: t('cancellation.requestedAt'),
      width: 8.25,
      sort: 'requested_at',
      cell: ({ requested_at }) => <When at={requested_at} relative />,
      text: ({ requested_at }) => requested_at,
    },
    {
      id: 'departure',
      header: t('field.departure'),
      width: 10.75,
      cell: ({ departure_at }) => <When at={departure_at} />,
      text: ({ departure_at }) => departure_at ?? '',
    },
    parts.plain('customer', t('field.customer'), 9, ({ customer_name }) => customer_name ?? null),
    {
      id: 'seats',
      header: t('field.seats'),
      width: 4.75,
      align: 'end',
      cell: ({ quote }) => quote.seats,
      text: ({ quote }) => String(quote.seats),
    },
    money('refund_amount', t('cancellation.refund')),
    money('fee_amount', t('cancellation.fee'), { width: 8.25 }),
    money('paid_amount', t('cancellation.paid'), { hidden: true }),
    parts.plain(
      'percent',
      t('cancellation.percent'),
      6,
      ({ quote }) => rateText(quote.policy_percent / 100, language),
      {
        hidden: true,
        align: 'end',
      },
    ),
    parts.plain('trip', t('field.trip'), 9, ({ trip_title }) => trip_title ?? null, { hidden: true }),
    parts.plain('provider', t('field.provider'), 7, ({ provider_name }) => provider_name ?? null, { hidden: true }),
    parts.plain('reason', t('field.reason'), 9, ({ reason }) => reason, { hidden: true }),
    {
      id: 'decided',
      header: t('cancellation.decidedAt'),
      width: 8,
      hidden: true,
      cell: ({ decided_at }) => <When at={decided_at} relative />,
      text: ({ decided_at }) => decided_at ?? '',
    },
    parts.plain('decidedBy', t('cancellation.decidedBy'), 8, ({ decided_by_name }) => decided_by_name ?? null, {
      hidden: true,
    }),
    parts.plain('note', t('field.note'), 9, ({ note }) => note, { hidden: true }),
    parts.id(t('field.id'), true),
  ];
}
