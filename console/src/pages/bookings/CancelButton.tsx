import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { ApiError, stillUnknown } from '@/api/errors';
import { cancellationQuotes } from '@/api/queries/cancellations';
import { previewQueries } from '@/api/queries/refunds';
import { useMay } from '@/app/me';
import { bodyOf, type FieldsOf, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { CancelRefund, RefundBearer, RefundCause } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';
import { moneyText } from '@/lib/money';
import { cancellationChanges } from '@/pages/cancellations/changes';
import { amountIn, cancelKey, idsOf } from './cancel';
import { CancelEffect, type Foreseen } from './CancelEffect';

type Body = Schemas['CancelBookingRequest'];

/** Cancels passengers of a paid booking. The effect is shown first, and only what has been shown can be ordered. */
export function CancelButton({ booking }: { booking: Schemas['Booking'] }) {
  const { t, language } = useWords();
  const may = useMay();
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<Foreseen | null>(null);
  const [named, setNamed] = useState<{ key: string; amount: number } | null>(null);
  const queries = useQueryClient();
  const money = (amount: number) => moneyText(amount, language, booking.currency);
  const whoOf = (count: number) => t('count.passengers', { count });
  const left = booking.passengers.flatMap(({ id, name, status }) =>
    id === undefined || status === 'CANCELLED' ? [] : [{ value: id, label: name }],
  );
  const needsApproval = shown?.needsApproval ?? false;
  const fields: FieldsOf<Body> = [
    { name: 'passenger_ids', label: t('cancel.who'), kind: 'checks', required: true, choices: left },
    {
      name: 'refund',
      label: t('cancel.refund'),
      kind: 'radios',
      required: true,
      choices: CancelRefund.map((value) => ({
        value,
        label: t(`cancel.how.${value}`),
        hint: t(`cancel.howHint.${value}`),
      })),
    },
    {
      name: 'amount',
      label: t('cancel.amount'),
      kind: 'money',
      required: true,
      when: ({ refund }) => refund === 'AMOUNT',
    },
    {
      name: 'bearer',
      label: t('cancel.bearer'),
      kind: 'radios',
      required: true,
      choices: RefundBearer.map((value) => ({
        value,
        label: t(`cancel.bears.${value}`),
        hint: t(`cancel.bearsHint.${value}`),
      })),
      when: ({ refund }) => refund !== 'NONE',
    },
    {
      name: 'cause',
      label: t('cancel.cause'),
      kind: 'choice',
      choices: RefundCause.map((value) => ({ value, label: t(`cancel.why.${value}`) })),
    },
    // A second person decides by it.
    { name: 'reason', label: t('cancel.reason'), kind: 'area', hint: t('cancel.reasonHint'), required: needsApproval },
  ];

  const goes = (values: Values) => {
    const who = whoOf(idsOf(values).length);
    if (shown?.key !== cancelKey(values)) return t('cancel.start');
    if (shown.amount === 0) return t('cancel.goNoMoney', { who });
    return t(shown.needsApproval ? 'cancel.ask' : 'cancel.go', { who, amount: money(shown.amount) });
  };

  /** What was refused was shown as possible: quote and preview are read anew, and an amount that the API names takes its place. */
  const orAnew = async <T,>(values: Values, ordered: Promise<T>): Promise<T> => {
    try {
      return await ordered;
    } catch (error) {
      if (stillUnknown(error)) throw error;
      for (const queryKey of [cancellationQuotes.all, previewQueries.all]) void queries.invalidateQueries({ queryKey });
      if (!(error instanceof ApiError) || error.code !== 'REFUND_AMOUNT_CHANGED') throw error;
      const amount = amountIn(error.fields['expected_amount']?.[0]);
      if (amount === null) throw error;
      setNamed({ key: cancelKey(values), amount });
      const text = t('cancel.changed', { amount: money(amount) });
      throw new ApiError(error.status, error.code, text, {}, error.requestId);
    }
  };

  if (!may('CancelPaidBooking') || (!opened && booking.status !== 'CONFIRMED')) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        {t('cancel.start')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('cancel.title', { number: booking.booking_number })}
        fields={fields}
        initial={{
          // One is meant; of several people choose.
          passenger_ids: left.length === 1 ? (left[0]?.value ?? '') : '',
          refund: 'POLICY',
          bearer: 'PROPORTIONAL',
        }}
        submitLabel={goes}
        leaveLabel={t('cancel.keep')}
        danger
        size="xl"
        blocked={(values) => shown?.key !== cancelKey(values)}
        after={(values) => (
          <CancelEffect
            booking={booking}
            values={values}
            named={named?.key === cancelKey(values) ? named.amount : undefined}
            onShown={setShown}
          />
        )}
        changes={cancellationChanges}
        done=""
        keyed
        submit={async (values, key) => {
          const count = idsOf(values).length;
          const { data } = await orAnew(
            values,
            answered(
              api.POST('/api/v1/admin/bookings/{id}/cancel', {
                params: { path: { id: booking.id }, header: { 'Idempotency-Key': key } },
                // What was shown is what is ordered, or nothing is.
                body: { ...bodyOf<Body>(fields, values, true), ...(shown && { expected_amount: shown.amount }) },
              }),
            ),
          );
          const said = { who: whoOf(count), amount: money(data.refund_amount) };
          if (data.cancellation_status === 'PENDING') return new Said(t('cancel.waits', said));
          return new Said(t(data.refund_id === null ? 'cancel.doneNoMoney' : 'cancel.done', said));
        }}
      />
    </>
  );
}
