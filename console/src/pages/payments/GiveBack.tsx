import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { dashboardQueries } from '@/api/queries/dashboard';
import { incidentQueries } from '@/api/queries/incidents';
import { paymentQueries } from '@/api/queries/payments';
import { refundQueries } from '@/api/queries/refunds';
import { useMay } from '@/app/me';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { moneyText } from '@/lib/money';

interface Props {
  paymentId: string;
  /** What goes back: all that was taken and has not gone back. */
  amount: number;
  currency: string;
}

/** Gives money back that was taken and bought nothing. */
export function GiveBack({ paymentId, amount, currency }: Props) {
  const { t, language } = useWords();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  const payment = useQuery({ ...paymentQueries.one(paymentId), enabled: opened });
  const sale = payment.data?.data;
  if (!may('RefundLatePayment')) return null;
  const fields: FieldsOf<Schemas['LateRefundRequest']> = [{ name: 'reason', label: t('field.reason'), kind: 'area' }];
  const text = moneyText(amount, language, currency);
  return (
    <>
      <Button size="xs" onClick={open}>
        {t('payment.giveBack', { amount: text })}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('payment.refundLate')}
        fields={fields}
        submitLabel={t('payment.giveBack', { amount: text })}
        danger
        changes={[paymentQueries.all, refundQueries.all, bookingQueries.all, incidentQueries.all, dashboardQueries.all]}
        done={{ text: t('payment.ordered', { amount: text }), to: `/payments/${paymentId}`, label: t('field.payment') }}
        keyed
        submit={(values, key) =>
          answered(
            api.POST('/api/v1/admin/payment-transactions/{id}/refund', {
              params: { path: { id: paymentId }, header: { 'Idempotency-Key': key } },
              body: bodyOf<Schemas['LateRefundRequest']>(fields, values, true),
            }),
          )
        }
      >
        <p className={ui.text}>{t('payment.refundLateHint')}</p>
        <Facts
          of={[
            [t('payment.asked'), sale ? <Money key="v" amount={sale.amount} currency={sale.currency} /> : '…'],
            [
              t('payment.goesBack'),
              <b key="v">
                <Money amount={amount} currency={currency} />
              </b>,
            ],
          ]}
        />
      </FormDialog>
    </>
  );
}
