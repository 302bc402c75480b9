import { useQueries, useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import { answered, api, listPage, type Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { MiniTable } from '@/components/MiniTable';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { usePaymentColumns, useRecordColumns, useRefundColumns } from '@/shared/columns';
import { Timeline } from '@/shared/Timeline';
import { merged } from '@/shared/timeline';
import { BookingFacts, TripFacts } from './BookingFacts';
import { RefundButton } from './RefundButton';

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
              <Badge state={data.status}>{label(data, 'status')}</Badge>
            </span>
          ) : (
            t('nav.bookings')
          )
        }
      >
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
  const refundColumns = useRefundColumns().filter(({ id }) => !['booking', 'payout'].includes(id));
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
          <Answer query={refunds}>
            {({ data }) => (
              <MiniTable label={t('nav.refunds')} rows={data} columns={refundColumns} rowId={({ id }) => id} />
            )}
          </Answer>
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
      </div>
    </div>
  );
}

/** The histories of the booking's payments as one; a refund's transaction has that of its payment. */
function History({ payments }: { payments: Schemas['PaymentTransaction'][] }) {
  const attempts = payments.filter(({ kind }) => kind === 'PAYMENT');
  const details = useQueries({
    queries: attempts.map(({ id }) => ({
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
  return (
    <Answer query={details} lines={8}>
      {(found) => <Timeline entries={merged(found.map(({ timeline }) => timeline))} />}
    </Answer>
  );
}
