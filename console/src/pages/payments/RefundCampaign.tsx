import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { dashboardQueries } from '@/api/queries/dashboard';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { refundQueries } from '@/api/queries/refunds';
import { campaigns } from '@/api/queries/resources';
import { useMay } from '@/app/me';
import { Answer } from '@/components/Card';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type FieldsOf, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useWords } from '@/i18n/useWords';
import { amountOf, moneyText } from '@/lib/money';
import { refundableOf } from '@/shared/paymentMoney';

type Body = Schemas['CampaignRefundRequest'];

interface Props {
  campaignId: string;
  /** Whether it has begun, where that is known: then a part of it is given back, and else all of it. */
  begun?: boolean;
}

/** Gives back what a company has paid for a campaign. */
export function RefundCampaign({ campaignId, begun = false }: Props) {
  const { t, label, language } = useWords();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  const payments = useQuery({ ...paymentQueries.ofCampaign(campaignId), enabled: opened });
  const payment = payments.data?.data.find(({ kind, status }) => kind === 'PAYMENT' && paid.has(status));
  const left = payment ? refundableOf(payment) : null;
  const fields: FieldsOf<Body> = [
    {
      name: 'refund_type',
      label: t('field.type'),
      kind: 'radios',
      required: true,
      choices: (['FULL', 'PARTIAL'] as const).map((value) => ({
        value,
        label: t(`enum.${value}`),
        hint: t(`campaign.refundHint.${value}`),
      })),
    },
    {
      name: 'amount',
      label: t('field.amount'),
      kind: 'money',
      required: true,
      when: ({ refund_type }) => refund_type === 'PARTIAL',
    },
    { name: 'reason', label: t('field.reason'), kind: 'area' },
  ];
  /** What the button says, and what the order is held to. */
  const amountFor = ({ refund_type, amount = '' }: Values) => (refund_type === 'FULL' ? left : amountOf(amount));
  if (!may('RefundAdCampaign') || !may('ListPaymentTransactions')) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('campaign.refund')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('campaign.refund')}
        fields={fields}
        initial={{ refund_type: begun ? 'PARTIAL' : 'FULL' }}
        submitLabel={(values) => {
          const amount = amountFor(values);
          return amount === null
            ? t('campaign.refund')
            : t('refund.goOf', { amount: moneyText(amount, language, payment?.currency) });
        }}
        danger
        blocked={() => left === null || left <= 0}
        changes={[
          paymentQueries.all,
          refundQueries.all,
          campaigns.list.queryKey,
          recordQueries.all,
          dashboardQueries.all,
        ]}
        done=""
        keyed
        submit={async (values, key) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/ad-campaigns/{id}/refund', {
              params: { path: { id: campaignId }, header: { 'Idempotency-Key': key } },
              body: {
                ...bodyOf<Body>(fields, values, true),
                // What was shown is what is ordered, or nothing is.
                ...(values['refund_type'] === 'FULL' && left !== null && { expected_amount: left }),
              },
            }),
          );
          return new Said({
            text: data.needs_approval
              ? t('refund.orderedWaits')
              : t('refund.orderedOf', {
                  amount: moneyText(data.amount, language, data.currency),
                  status: label(data, 'status'),
                }),
            to: `/payments/${data.payment_transaction_id}`,
            label: t('field.payment'),
          });
        }}
      >
        <Answer query={payments} lines={2}>
          {() =>
            payment && left !== null ? (
              <Facts
                of={[
                  [t('refund.paid'), <Money key="v" amount={payment.amount} currency={payment.currency} />],
                  [
                    t('refund.left'),
                    <b key="v">
                      <Money amount={left} currency={payment.currency} />
                    </b>,
                  ],
                ]}
              />
            ) : (
              <p className={ui.text}>{t('campaign.notPaid')}</p>
            )
          }
        </Answer>
      </FormDialog>
    </>
  );
}

const paid = new Set<Schemas['TransactionStatus']>(['PAID', 'PARTIAL_REFUND']);
