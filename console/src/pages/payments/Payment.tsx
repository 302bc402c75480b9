import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { WorkflowLink } from '@/components/WorkflowLink';
import { bodyOf, type Field } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { Timeline } from '@/shared/Timeline';

export function Component() {
  const { t, label } = useWords();
  const { word } = useChoices();
  const { id = '' } = useParams();
  const payment = useQuery({
    queryKey: ['payments', 'one', id],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/admin/payment-transactions/{id}', { params: { path: { id } }, signal })),
  });
  const found = payment.data?.data;
  return (
    <div className={ui.page}>
      <PageHead
        help="payments"
        title={
          found ? (
            <span className={ui.row}>
              {word(found.kind)} <Money amount={found.amount} currency={found.currency} />
              <Badge state={found.status}>{label(found, 'status')}</Badge>
            </span>
          ) : (
            t('payment.title')
          )
        }
      >
        {found && <LateRefund payment={found} />}
      </PageHead>
      <Answer query={payment} lines={10}>
        {({ data }) => (
          <div className={ui.split}>
            <Card title={t('timeline.title')}>
              <Timeline entries={data.timeline} />
            </Card>
            <PaymentFacts payment={data} />
          </div>
        )}
      </Answer>
    </div>
  );
}

function PaymentFacts({ payment }: { payment: Schemas['PaymentTransactionDetail'] }) {
  const { t } = useWords();
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
          [t('field.gateway'), word(payment.provider)],
          [t('field.reference'), <CopyId key="v" id={payment.reference} whole />],
          [t('field.failure'), payment.failure_code],
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

/** Money that came when the booking could no longer take it goes back whole. */
function LateRefund({ payment }: { payment: Schemas['PaymentTransactionDetail'] }) {
  const { t } = useWords();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  if (payment.kind !== 'PAYMENT' || !payment.captured_at || payment.status !== 'FAILED' || !may('RefundLatePayment'))
    return null;
  const fields: Field[] = [{ name: 'reason', label: t('field.reason'), kind: 'area' }];
  return (
    <>
      <Button size="xs" onClick={open}>
        {t('payment.refundLate')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('payment.refundLate')}
        fields={fields}
        submitLabel={t('refund.go')}
        danger
        changes={['payments', 'refunds', 'bookings', 'dashboard']}
        keyed
        submit={(values, key) =>
          answered(
            api.POST('/api/v1/admin/payment-transactions/{id}/refund', {
              params: { path: { id: payment.id }, header: { 'Idempotency-Key': key } },
              body: bodyOf<Schemas['LateRefundRequest']>(fields, values, true),
            }),
          )
        }
      >
        <p className={ui.text}>{t('payment.refundLateHint')}</p>
      </FormDialog>
    </>
  );
}
