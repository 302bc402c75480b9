import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Schemas } from '@/api/client';
import { paymentQueries } from '@/api/queries/payments';
import { refundQueries } from '@/api/queries/refunds';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { WorkflowLink } from '@/components/WorkflowLink';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { moneyText } from '@/lib/money';
import { RefundTable } from '@/pages/refunds/RefundTable';
import { PaymentBadge } from '@/shared/columns';
import { failureText } from '@/shared/paymentState';
import { Timeline } from '@/shared/Timeline';
import { GiveBack } from './GiveBack';
import { heldMoney, refundableOf } from '@/shared/paymentMoney';
import { RefundCampaign } from './RefundCampaign';

export function Component() {
  const { t } = useWords();
  const { word } = useChoices();
  const { id = '' } = useParams();
  const payment = useQuery(paymentQueries.one(id));
  const found = payment.data?.data;
  const held = found ? heldMoney(found) : null;
  return (
    <div className={ui.page}>
      <PageHead
        help="payments"
        title={
          found ? (
            <span className={ui.row}>
              {word(found.kind)} <Money amount={found.amount} currency={found.currency} />
              <PaymentBadge payment={found} />
            </span>
          ) : (
            t('payment.title')
          )
        }
      >
        {found?.ad_campaign_id && found.kind === 'PAYMENT' && !held && refundableOf(found) > 0 && (
          <RefundCampaign campaignId={found.ad_campaign_id} />
        )}
        {held && held.left > 0 && <GiveBack paymentId={id} amount={held.left} currency={held.currency} />}
      </PageHead>
      <Answer query={payment} lines={10}>
        {({ data }) => (
          <>
            <Held payment={data} />
            <div className={ui.split}>
              <div className={ui.stack}>
                <Card title={t('timeline.title')}>
                  <Timeline entries={data.timeline} />
                </Card>
                {data.kind !== 'REFUND' && <Refunds paymentId={data.id} />}
              </div>
              <PaymentFacts payment={data} />
            </div>
          </>
        )}
      </Answer>
    </div>
  );
}

function PaymentFacts({ payment }: { payment: Schemas['PaymentTransactionDetail'] }) {
  const { t, language } = useWords();
  const { word } = useChoices();
  return (
    <Card title={t('field.details')}>
      <Facts
        of={[
          [t('field.id'), <CopyId key="v" id={payment.id} whole />],
          [
            t('field.bookingNumber'),
            payment.booking_id && (
              <Link key="v" className="ltr" to={`/bookings/${payment.booking_id}`}>
                {payment.booking_number ?? payment.booking_id}
              </Link>
            ),
          ],
          [t('field.campaign'), payment.ad_campaign_id && <CopyId key="v" id={payment.ad_campaign_id} />],
          [t('field.amount'), <Money key="v" amount={payment.amount} currency={payment.currency} />],
          [t('card.vat_amount'), <Money key="v" amount={payment.vat_amount} currency={payment.currency} />],
          [t('field.method'), word(payment.payment_method)],
          [t('field.paidBy'), payment.paid_by && word(payment.paid_by)],
          [
            t('field.outsideRefunded'),
            payment.outside_refunded_amount > 0 ? (
              <Money
                key="v"
                amount={payment.outside_refunded_amount}
                currency={payment.captured_currency ?? payment.currency}
              />
            ) : null,
          ],
          [t('field.gateway'), word(payment.provider)],
          [t('field.reference'), <CopyId key="v" id={payment.reference} whole />],
          [t('field.failure'), failureText(payment, language)],
          [t('field.failureReason'), payment.failure_reason],
          [
            t('field.captured'),
            payment.captured_at && (
              <span key="v">
                <When at={payment.captured_at} />{' '}
                {payment.captured_amount !== null && (
                  <Money amount={payment.captured_amount} currency={payment.captured_currency ?? 'SAR'} />
                )}
              </span>
            ),
          ],
          [t('field.checkout'), payment.checkout_url && <CopyId key="v" id={payment.checkout_url} whole />],
          [t('field.expires'), payment.expires_at && <When key="v" at={payment.expires_at} />],
          [t('field.created'), <When key="v" at={payment.created_at} />],
          [t('field.workflow'), <WorkflowLink key="v" id={payment.workflow_id} url={payment.workflow_url} />],
        ]}
      />
    </Card>
  );
}

/** Money that came when nothing could take it: how much, and whether it is back. */
function Held({ payment }: { payment: Schemas['PaymentTransactionDetail'] }) {
  const { t, language } = useWords();
  const held = heldMoney(payment);
  if (!held) return null;
  return (
    <p className={held.state === 'DONE' ? ui.good : ui.notice} role="status">
      {t(`payment.held.${held.state}`, {
        asked: moneyText(payment.amount, language, payment.currency),
        taken: moneyText(held.taken, language, held.currency),
      })}
    </p>
  );
}

/** The refunds of a payment; one of them, and what can be decided about it, beside them. */
function Refunds({ paymentId }: { paymentId: string }) {
  const { t } = useWords();
  const refunds = useQuery(refundQueries.ofPayment(paymentId));
  return (
    <Card title={t('nav.refunds')}>
      <Answer query={refunds}>{({ data }) => <RefundTable refunds={data} />}</Answer>
    </Card>
  );
}
