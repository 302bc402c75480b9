import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { Badge } from '@/components/Badge';
import { CopyId } from '@/components/CopyId';
import type { Column } from '@/components/columns';
import { Money } from '@/components/Money';
import { Day, When } from '@/components/When';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { rateText } from '@/lib/money';
import { heldMoney } from './paymentMoney';
import { failureText, isOver, paymentState, reasonText } from './paymentState';

type Labelled = { status: string; status_label_ar: string; status_label_en: string };
type Booked = { booking_id: string | null; booking_number?: string | null };

/** Columns that several lists have. */
export function useColumnParts() {
  const { t, label } = useWords();
  const status = <T extends Labelled>(): Column<T> => ({
    id: 'status',
    header: t('field.status'),
    width: 10.5,
    cell: (row) => <Badge state={row.status}>{label(row, 'status')}</Badge>,
    text: (row) => label(row, 'status'),
  });
  const booking = <T extends Booked>(): Column<T> => ({
    id: 'booking',
    header: t('field.bookingNumber'),
    width: 7.5,
    cell: ({ booking_id, booking_number }) =>
      booking_id ? (
        <Link className="ltr" to={`/bookings/${booking_id}`}>
          {booking_number ?? '…'}
        </Link>
      ) : (
        <span className="dimmed">–</span>
      ),
    text: ({ booking_id, booking_number }) => booking_number ?? booking_id ?? '',
  });
  const created = <T extends { created_at: string }>(sort = 'created_at'): Column<T> => ({
    id: 'created',
    header: t('field.created'),
    width: 7.75,
    sort,
    cell: ({ created_at }) => <When at={created_at} relative />,
    text: ({ created_at }) => created_at,
  });
  const amount = <T extends { amount: number; currency: string }>(): Column<T> => ({
    id: 'amount',
    header: t('field.amount'),
    width: 7.5,
    align: 'end',
    sort: 'amount',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
    text: (row) => row.amount.toFixed(2),
  });
  const id = <T extends { id: string }>(header: string, hidden = false): Column<T> => ({
    id: 'id',
    header,
    width: 8,
    hidden,
    cell: (row) => <CopyId id={row.id} />,
    text: (row) => row.id,
  });
  const plain = <T,>(
    name: string,
    header: string,
    width: number,
    read: (row: T) => string | null,
    more: Partial<Column<T>> = {},
  ): Column<T> => ({
    id: name,
    header,
    width,
    cell: (row) => <bdi>{read(row) ?? '–'}</bdi>,
    text: (row) => read(row) ?? '',
    ...more,
  });
  return { status, booking, created, amount, id, plain };
}

/** The state of a payment: the same in lists and on its page. Of money that bought nothing it is what became of that. */
export function PaymentBadge({ payment }: { payment: Schemas['PaymentTransaction'] }) {
  const { t, language } = useWords();
  const held = heldMoney(payment);
  if (held)
    return (
      <Badge state={held.state === 'DONE' ? 'REFUNDED' : payment.status}>{t(`payment.state.${held.state}`)}</Badge>
    );
  return <Badge state={isOver(payment) ? 'EXPIRED' : payment.status}>{paymentState(payment, language)}</Badge>;
}

export function usePaymentColumns(): Column<Schemas['PaymentTransaction']>[] {
  const { t, language } = useWords();
  const { word } = useChoices();
  const parts = useColumnParts();
  return [
    {
      id: 'payment',
      header: t('field.payment'),
      width: 8,
      cell: ({ id }) => (
        <>
          <Link to={`/payments/${id}`} className="ltr">
            …{id.slice(-8)}
          </Link>
          <CopyId id={id} iconOnly />
        </>
      ),
      text: ({ id }) => id,
    },
    parts.plain('kind', t('field.kind'), 5, ({ kind }) => word(kind)),
    {
      ...parts.status<Schemas['PaymentTransaction']>(),
      cell: (row) => <PaymentBadge payment={row} />,
      text: (row) => {
        const held = heldMoney(row);
        return held ? t(`payment.state.${held.state}`) : paymentState(row, language);
      },
    },
    parts.booking(),
    parts.amount(),
    parts.plain('method', t('field.method'), 7.25, ({ payment_method, paid_by }) =>
      paid_by ? `${word(payment_method)} / ${word(paid_by)}` : word(payment_method),
    ),
    parts.plain('gateway', t('field.gateway'), 8, ({ provider }) => word(provider), { hidden: true }),
    {
      id: 'reference',
      header: t('field.reference'),
      width: 8,
      cell: ({ reference }) => <CopyId id={reference} whole />,
      text: ({ reference }) => reference ?? '',
    },
    parts.plain('failure', t('field.failure'), 10, (row) => row.failure_reason ?? failureText(row, language), {
      hidden: true,
    }),
    {
      id: 'captured',
      header: t('field.captured'),
      width: 10,
      hidden: true,
      cell: ({ captured_at }) => <When at={captured_at} />,
      text: ({ captured_at }) => captured_at ?? '',
    },
    parts.created(),
  ];
}

/** The state of a refund, and before that what it waits for: the same in lists and beside them. */
export function RefundBadge({ refund }: { refund: Schemas['Refund'] }) {
  const { t, label } = useWords();
  if (refund.needs_approval) return <Badge state="NEEDS_APPROVAL">{t('refund.needsApproval')}</Badge>;
  if (refund.needs_payout) return <Badge state="NEEDS_PAYOUT">{t('refund.needsPayout')}</Badge>;
  return <Badge state={refund.status}>{label(refund, 'status')}</Badge>;
}

export function useRefundColumns(): Column<Schemas['Refund']>[] {
  const { t, language } = useWords();
  const { word } = useChoices();
  const parts = useColumnParts();
  return [
    parts.booking(),
    {
      ...parts.status<Schemas['Refund']>(),
      cell: (row) => <RefundBadge refund={row} />,
    },
    parts.amount(),
    parts.plain('customer', t('field.customer'), 9, ({ customer_name }) => customer_name ?? null),
    parts.plain('provider', t('field.provider'), 9, ({ provider_name }) => provider_name ?? null),
    parts.plain('type', t('field.type'), 7.5, ({ refund_type }) => word(refund_type)),
    parts.plain('channel', t('field.channel'), 8, ({ channel }) => word(channel)),
    parts.plain('reason', t('field.reason'), 9, (row) => reasonText(row, language)),
    parts.plain('failure', t('field.failure'), 9, (row) => failureText(row, language), { hidden: true }),
    {
      id: 'payout',
      header: t('field.payoutReference'),
      width: 10,
      hidden: true,
      cell: ({ payout_reference }) => <CopyId id={payout_reference} whole />,
      text: ({ payout_reference }) => payout_reference ?? '',
    },
    parts.created(),
  ];
}

export function useRecordColumns(own = false): Column<Schemas['FinancialRecord']>[] {
  const { t, language } = useWords();
  const { word } = useChoices();
  const parts = useColumnParts();
  type Row = Schemas['FinancialRecord'];
  const money = (
    name: 'gross_amount' | 'vat_amount' | 'platform_commission_amount' | 'net_amount' | 'refunded_amount',
    more: Partial<Column<Row>> = {},
  ): Column<Row> => ({
    id: name,
    header: t(`card.${name}`),
    width: 8,
    align: 'end',
    cell: ({ [name]: amount, currency }) =>
      amount === undefined ? '–' : <Money amount={amount} currency={currency} />,
    text: ({ [name]: amount }) => amount?.toFixed(2) ?? '',
    ...more,
  });
  return [
    {
      id: 'number',
      header: t('field.line'),
      width: 10,
      cell: ({ transaction_number }) => <CopyId id={transaction_number} />,
      text: ({ transaction_number }) => transaction_number,
    },
    {
      id: 'date',
      header: t('field.day'),
      width: 8,
      sort: 'record_date',
      cell: ({ record_date }) => <Day day={record_date} />,
      text: ({ record_date }) => record_date,
    },
    parts.plain('kind', t('field.kind'), 6, ({ kind }) => word(kind)),
    ...(own ? [] : [parts.plain<Row>('provider', t('field.provider'), 8, ({ provider_name }) => provider_name)]),
    {
      id: 'status',
      header: t('field.status'),
      width: 11,
      cell: (row) => (
        <Badge state={row.balance_status}>{language === 'ar' ? row.status_label_ar : row.status_label_en}</Badge>
      ),
      text: (row) => (language === 'ar' ? row.status_label_ar : row.status_label_en),
    },
    money('gross_amount', { sort: 'gross_amount' }),
    money('vat_amount'),
    money('platform_commission_amount', { hidden: true }),
    money('net_amount', { sort: 'net_amount' }),
    money('refunded_amount', { hidden: true }),
    parts.plain('rate', t('field.commissionRate'), 7, ({ commission_rate }) => rateText(commission_rate, language), {
      hidden: true,
      align: 'end',
    }),
    { ...parts.booking<Row>() },
    parts.plain('details', t('field.details'), 14, ({ details }) => details, { hidden: true }),
    {
      id: 'payout',
      header: t('field.payoutReference'),
      width: 8,
      cell: ({ payout_reference }) => <CopyId id={payout_reference} whole />,
      text: ({ payout_reference }) => payout_reference ?? '',
    },
    {
      id: 'payoutDate',
      header: t('field.payoutDate'),
      width: 8,
      hidden: true,
      cell: ({ payout_date }) => <Day day={payout_date} />,
      text: ({ payout_date }) => payout_date ?? '',
    },
  ];
}
