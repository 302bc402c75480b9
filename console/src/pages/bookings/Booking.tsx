import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { answered, api, listPage, type Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import type { Column } from '@/components/columns';
import { CopyId } from '@/components/CopyId';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { WorkflowLink } from '@/components/WorkflowLink';
import { useSelected } from '@/hooks/useSelected';
import { useWords } from '@/i18n/useWords';
import { RefundDetail } from '@/pages/refunds/RefundDetail';
import { usePaymentColumns, useRecordColumns, useRefundColumns } from '@/shared/columns';
import { Timeline } from '@/shared/Timeline';
import { merged } from '@/shared/timeline';
import { BookingFacts, TripFacts } from './BookingFacts';
import { RefundButton } from './RefundButton';
import { SendCheckout } from './SendCheckout';

type Booking = Schemas['Booking'];

export function Component() {
  const { t, label } = useWords();
  const may = useMay();
  const { id = '' } = useParams();
  const booking = useQuery({
    queryKey: ['bookings', 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/bookings/{id}', { params: { path: { id } }, signal })),
  });
  const data = booking.data?.data;
  return (
    <div className={ui.page}>
      <PageHead
        help="bookings"
        name={data?.booking_number ?? t('nav.bookings')}
        title={
          data ? (
            <span className={ui.row}>
              <CopyId id={data.booking_number} />
              <Money amount={data.amount} currency={data.currency} />
              <Badge state={data.status}>{label(data, 'status')}</Badge>
            </span>
          ) : (
            t('nav.bookings')
          )
        }
      >
        {data && <SendCheckout booking={data} />}
        {data && may('RefundBooking') && <RefundButton booking={data} />}
      </PageHead>
      <Answer query={booking} lines={12}>
        {({ data: found }) => <Parts booking={found} />}
      </Answer>
    </div>
  );
}

/** Everything that belongs to a booking, each part read by itself. */
function Parts({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const may = useMay();
  const of = { booking_id: booking.id };
  const payments = useQuery({
    queryKey: ['payments', 'of', booking.id],
    queryFn: ({ signal }) => listPage('/api/v1/admin/payment-transactions', of, null, signal),
  });
  const refunds = useQuery({
    queryKey: ['refunds', 'of', booking.id],
    queryFn: ({ signal }) => listPage('/api/v1/admin/refunds', of, null, signal),
  });
  const records = useQuery({
    queryKey: ['records', 'of', booking.id],
    queryFn: ({ signal }) => listPage('/api/v1/admin/financial-records', of, null, signal),
    enabled: may('ListFinancialRecords'),
  });
  const paymentColumns = usePaymentColumns().filter(({ id }) => !['booking', 'gateway', 'failure'].includes(id));
  const recordColumns = useRecordColumns().filter(
    ({ id }) => !['booking', 'details', 'payoutDate', 'rate', 'provider'].includes(id),
  );
  return (
    <div className={ui.split}>
      <div className={ui.stack}>
        <Card title={t('timeline.title')}>
          <Answer query={payments} lines={8}>
            {({ data }) => <History payments={data} />}
          </Answer>
        </Card>
        <Card title={t('nav.payments')}>
          <Answer query={payments}>
            {({ data }) => (
              <MiniTable label={t('nav.payments')} rows={data} columns={paymentColumns} rowId={({ id }) => id} />
            )}
          </Answer>
        </Card>
        <Card title={t('nav.refunds')}>
          <Answer query={refunds}>{({ data }) => <Refunds refunds={data} />}</Answer>
        </Card>
        {may('ListFinancialRecords') && (
          <Card title={t('nav.ledger')}>
            <Answer query={records}>
              {({ data }) => (
                <MiniTable label={t('nav.ledger')} rows={data} columns={recordColumns} rowId={({ id }) => id} />
              )}
            </Answer>
          </Card>
        )}
      </div>
      <div className={ui.stack}>
        <BookingFacts booking={booking} />
        <TripFacts booking={booking} />
        <Card title={t('booking.workflows')}>
          <Answer query={payments} lines={2}>
            {({ data }) => <Workflows payments={data} />}
          </Answer>
        </Card>
      </div>
    </div>
  );
}

/** The booking's attempts to pay, each with its history; a refund's transaction has that of its payment. */
function useAttempts(payments: Schemas['PaymentTransaction'][]) {
  return useQueries({
    queries: payments
      .filter(({ kind }) => kind === 'PAYMENT')
      .map(({ id }) => ({
        queryKey: ['payments', 'one', id],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          answered(api.GET('/api/v1/admin/payment-transactions/{id}', { params: { path: { id } }, signal })),
      })),
    combine: (results) => ({
      data: results.every(({ data }) => data) ? results.flatMap(({ data }) => data?.data ?? []) : undefined,
      error: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some(({ isPending }) => isPending),
      refetch: () => {
        for (const { refetch } of results) void refetch();
      },
    }),
  });
}

/** The histories of all attempts as one. */
function History({ payments }: { payments: Schemas['PaymentTransaction'][] }) {
  return (
    <Answer query={useAttempts(payments)} lines={8}>
      {(found) => <Timeline entries={merged(found.map(({ timeline }) => timeline))} />}
    </Answer>
  );
}

function Workflows({ payments }: { payments: Schemas['PaymentTransaction'][] }) {
  return (
    <Answer query={useAttempts(payments)} lines={2}>
      {(found) => (
        <ul className={ui.bare}>
          {found.map(({ id, workflow_id, workflow_url }) => (
            <li key={id}>
              <WorkflowLink id={workflow_id} url={workflow_url} />
            </li>
          ))}
        </ul>
      )}
    </Answer>
  );
}

/** The refunds of a booking; one of them, and what can be decided about it, beside them. */
function Refunds({ refunds }: { refunds: Schemas['Refund'][] }) {
  const { t } = useWords();
  const selected = useSelected<Schemas['Refund']>(({ id }) => id);
  const columns = useRefundColumns().filter(({ id }) => !['booking', 'payout', 'amount'].includes(id));
  const amount: Column<Schemas['Refund']> = {
    id: 'amount',
    header: t('field.amount'),
    width: 8,
    cell: (row) => (
      <button
        type="button"
        className={ui.link}
        onClick={() => {
          selected.open(row);
        }}
      >
        <span className="hidden-words">{t('booking.openRefund')} </span>
        <Money amount={row.amount} currency={row.currency} />
      </button>
    ),
    text: (row) => row.amount.toFixed(2),
  };
  return (
    <>
      <MiniTable label={t('nav.refunds')} rows={refunds} columns={[amount, ...columns]} rowId={({ id }) => id} />
      <RefundDetail refund={selected.current(refunds)} opened={selected.opened} close={selected.close} />
    </>
  );
}
