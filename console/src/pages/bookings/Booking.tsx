import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { refundQueries } from '@/api/queries/refunds';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { WorkflowLink } from '@/components/WorkflowLink';
import { useWords } from '@/i18n/useWords';
import { moneyText, sumOf } from '@/lib/money';
import { heldMoney, refundedOf } from '@/shared/paymentMoney';
import { RefundTable } from '@/pages/refunds/RefundTable';
import { usePaymentColumns, useRecordColumns } from '@/shared/columns';
import { merged } from '@/shared/timeline';
import { BookingFacts, Passengers, TripFacts } from './BookingFacts';
import { CancelButton } from './CancelButton';
import { CancelQuote } from './CancelQuote';
import { CancelUnpaid } from './CancelUnpaid';
import { BookingNotes, Desk } from './Desk';
import { RefundButton } from './RefundButton';
import { SendCheckout } from './SendCheckout';
import { Story } from './Story';
import { OpenRequest, Strip } from './Strip';
import { TripOff, useTripOf } from './TripOff';

type Booking = Schemas['Booking'];

export function Component() {
  const { t, label } = useWords();
  const may = useMay();
  const { id = '' } = useParams();
  const booking = useQuery(bookingQueries.one(id));
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
              <WentBack booking={data} />
            </span>
          ) : (
            t('nav.bookings')
          )
        }
      >
        {data && <SendCheckout booking={data} />}
        {data && <CancelUnpaid booking={data} />}
        {data && <CancelButton booking={data} />}
        {data && <CancelQuote booking={data} />}
        {data && may('RefundBooking') && <RefundButton booking={data} />}
      </PageHead>
      <Answer query={booking} lines={12}>
        {({ data: found }) => <Parts booking={found} />}
      </Answer>
    </div>
  );
}

/** What of the booking's price has gone back, and what is left. */
function WentBack({ booking }: { booking: Booking }) {
  const { t, language } = useWords();
  const { data } = useQuery(paymentQueries.ofBooking(booking.id));
  const back = refundedOf(data?.data ?? []);
  if (back === 0) return null;
  const left = sumOf([booking.amount, -back]);
  return (
    <>
      <Badge state="PARTIAL_REFUND">{t(left > 0 ? 'enum.PARTIAL_REFUND' : 'enum.REFUNDED')}</Badge>
      {left > 0 && (
        <small className="dimmed">{t('booking.left', { amount: moneyText(left, language, booking.currency) })}</small>
      )}
    </>
  );
}

/** Money that was taken for the booking and bought nothing: the booking's own state does not say so. */
function HeldMoney({ payments }: { payments: Schemas['PaymentTransaction'][] }) {
  const { t, language } = useWords();
  return payments.map((payment) => {
    const held = heldMoney(payment);
    return (
      held && (
        <p key={payment.id} className={held.state === 'DONE' ? ui.good : ui.notice} role="status">
          {t(`payment.${payment.kind === 'SECOND_DEBIT' ? 'twice' : 'held'}.${held.state}`, {
            asked: moneyText(payment.amount, language, payment.currency),
            taken: moneyText(held.taken, language, held.currency),
          })}{' '}
          <Link to={`/payments/${payment.id}`}>{t('payment.open')}</Link>
        </p>
      )
    );
  });
}

/** Everything that belongs to a booking, each part read by itself. */
function Parts({ booking }: { booking: Booking }) {
  const { t } = useWords();
  const may = useMay();
  // Read once for all parts: what was not found is asked for again by each that mounts.
  const trip = useTripOf(booking);
  const payments = useQuery(paymentQueries.ofBooking(booking.id));
  const refunds = useQuery(refundQueries.ofBooking(booking.id));
  const records = useQuery({ ...recordQueries.ofBooking(booking.id), enabled: may('ListFinancialRecords') });
  const paymentColumns = usePaymentColumns().filter(
    ({ id }) => !['booking', 'gateway', 'failure', 'captured'].includes(id),
  );
  const recordColumns = useRecordColumns().filter(
    ({ id }) => !['booking', 'details', 'payoutDate', 'rate', 'provider'].includes(id),
  );
  return (
    <>
      <Answer query={payments} lines={2}>
        {(paid) => (
          <Answer query={refunds} lines={2}>
            {(ordered) => <Strip booking={booking} payments={paid.data} refunds={ordered.data} off={trip.off} />}
          </Answer>
        )}
      </Answer>
      <TripOff off={trip.off} />
      <OpenRequest booking={booking} />
      <HeldMoney payments={payments.data?.data ?? []} />
      <div className={ui.split}>
        <div className={ui.stack}>
          <Card title={t('timeline.title')}>
            <Answer query={payments} lines={8}>
              {({ data }) => <History booking={booking} payments={data} />}
            </Answer>
          </Card>
          <Passengers booking={booking} />
          <BookingNotes id={booking.id} />
        </div>
        <div className={ui.stack}>
          <BookingFacts booking={booking}>
            <Desk booking={booking} />
          </BookingFacts>
          <TripFacts booking={booking} of={trip} />
        </div>
      </div>
      {/* As wide as the page, so that no amount is cut off. */}
      <div className={ui.stack}>
        <Card title={t('nav.refunds')}>
          <Answer query={refunds}>{({ data }) => <RefundTable refunds={data} back={booking.refunds ?? []} />}</Answer>
        </Card>
        <Card title={t('nav.payments')}>
          <Answer query={payments}>
            {({ data }) => (
              <MiniTable label={t('nav.payments')} rows={data} columns={paymentColumns} rowId={({ id }) => id} />
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
        <Card title={t('booking.workflows')}>
          <Answer query={payments} lines={2}>
            {({ data }) => <Workflows payments={data} />}
          </Answer>
        </Card>
      </div>
    </>
  );
}

/** What was paid and tried, each with its history; a refund's transaction has that of its payment. */
function useAttempts(payments: Schemas['PaymentTransaction'][]) {
  return useQueries({
    queries: payments.filter(({ kind }) => kind !== 'REFUND').map(({ id }) => paymentQueries.one(id)),
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

/** The histories of all attempts as one, told by what people ask about. */
function History({ booking, payments }: { booking: Booking; payments: Schemas['PaymentTransaction'][] }) {
  return (
    <Answer query={useAttempts(payments)} lines={8}>
      {(found) => <Story booking={booking} entries={merged(found.map(({ timeline }) => timeline))} />}
    </Answer>
  );
}

function Workflows({ payments }: { payments: Schemas['PaymentTransaction'][] }) {
  return (
    <Answer query={useAttempts(payments)} lines={2}>
      {(found) => (
        <ul className={ui.bare}>
          {found
            .filter(({ kind }) => kind === 'PAYMENT')
            .map(({ id, workflow_id, workflow_url }) => (
              <li key={id}>
                <WorkflowLink id={workflow_id} url={workflow_url} />
              </li>
            ))}
        </ul>
      )}
    </Answer>
  );
}
