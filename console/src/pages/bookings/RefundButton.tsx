import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { stillUnknown } from '@/api/errors';
import { bookingQueries } from '@/api/queries/bookings';
import { dashboardQueries } from '@/api/queries/dashboard';
import { paymentQueries } from '@/api/queries/payments';
import { recordQueries } from '@/api/queries/records';
import { previewQueries, refundQueries } from '@/api/queries/refunds';
import { Answer } from '@/components/Card';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { RefundType } from '@/gen/enums';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { moneyText } from '@/lib/money';
import { previewKey, RefundPreview, type Shown } from './RefundPreview';

type Quote = Schemas['RefundQuote'];

/** Bookings that no payment was taken for: money that came all the same is given back at its payment. */
const unconfirmed = new Set<Schemas['Booking']['status']>(['PENDING_PAYMENT', 'PAYMENT_FAILED']);

/**
 * Orders a refund of a booking: first what the policy says and what is left to refund, then what this refund would do. Only what has
 * been shown can be ordered.
 */
export function RefundButton({ booking }: { booking: Schemas['Booking'] }) {
  const { t, label, language } = useWords();
  const { choices } = useChoices();
  const [opened, { open, close }] = useDisclosure();
  const [previewed, setPreviewed] = useState<Shown | null>(null);
  const quote = useQuery({ ...previewQueries.quote(booking.id), enabled: opened });
  const queries = useQueryClient();
  // What was refused was shown as possible: it is read anew. What was ordered, or may have been, is not asked about again.
  const orQuoteAnew = <T,>(ordered: Promise<T>) =>
    ordered.catch((error: unknown) => {
      if (!stillUnknown(error))
        for (const queryKey of [previewQueries.quotes, previewQueries.all])
          void queries.invalidateQueries({ queryKey });
      throw error;
    });
  const fields: FieldsOf<Schemas['RefundRequest']> = [
    { name: 'refund_type', label: t('field.type'), kind: 'choice', required: true, choices: choices(RefundType) },
    {
      name: 'amount',
      label: t('field.amount'),
      kind: 'money',
      required: true,
      when: ({ refund_type }) => refund_type === 'PARTIAL',
    },
    {
      name: 'reason',
      label: t('field.reason'),
      kind: 'area',
      // A second person decides by it.
      required: previewed?.needsApproval ?? false,
    },
  ];
  // An order whose end is not known stays in sight, whatever the booking has become by it.
  if (!opened && (unconfirmed.has(booking.status) || booking.payment.status === 'REFUNDED')) return null;
  return (
    <>
      <Button size="xs" onClick={open}>
        {t('refund.start')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('refund.startOf', { number: booking.booking_number })}
        fields={fields}
        initial={{ refund_type: 'POLICY' }}
        submitLabel={(values) =>
          previewed?.key === previewKey(values)
            ? t(previewed.needsApproval ? 'refund.askOf' : 'refund.goOf', {
                amount: moneyText(previewed.amount, language, previewed.currency),
              })
            : t('refund.go')
        }
        danger
        size="xl"
        blocked={(values) => previewed?.key !== previewKey(values)}
        after={(values) => <RefundPreview bookingId={booking.id} values={values} onShown={setPreviewed} />}
        changes={[bookingQueries.all, paymentQueries.all, refundQueries.all, recordQueries.all, dashboardQueries.all]}
        done=""
        keyed
        submit={async (values, key) => {
          const { data } = await orQuoteAnew(
            answered(
              api.POST('/api/v1/admin/bookings/{id}/refund', {
                params: { path: { id: booking.id }, header: { 'Idempotency-Key': key } },
                body: {
                  ...bodyOf<Schemas['RefundRequest']>(fields, values, true),
                  // What was shown is what is ordered, of the same payment, or nothing is.
                  ...(previewed && {
                    expected_amount: previewed.amount,
                    payment_transaction_id: previewed.payment,
                  }),
                },
              }),
            ),
          );
          return new Said(
            data.needs_approval
              ? t('refund.orderedWaits')
              : t('refund.orderedOf', {
                  amount: moneyText(data.amount, language, data.currency),
                  status: label(data, 'status'),
                }),
          );
        }}
      >
        <Answer query={quote} lines={5}>
          {({ data }) => <QuoteFacts quote={data} />}
        </Answer>
      </FormDialog>
    </>
  );
}

function QuoteFacts({ quote }: { quote: Quote }) {
  const { t } = useWords();
  return (
    <Facts
      of={[
        [t('refund.paid'), <Money key="v" amount={quote.paid_amount} currency={quote.currency} />],
        [t('refund.given'), <Money key="v" amount={quote.refunded_amount} currency={quote.currency} />],
        [
          t('refund.left'),
          <b key="v">
            <Money amount={quote.remaining_amount} currency={quote.currency} />
          </b>,
        ],
        [
          t('refund.policy', { percent: quote.policy_percent }),
          <b key="v">
            <Money amount={quote.quote_amount} currency={quote.currency} />
          </b>,
        ],
        [t('refund.hours'), quote.hours_to_departure],
        [t('refund.why'), t(`policy.${quote.reason_code}`)],
      ]}
    />
  );
}
