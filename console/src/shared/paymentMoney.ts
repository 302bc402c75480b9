import type { Schemas } from '@/api/client';
import { sumOf } from '@/lib/money';

type Payment = Pick<
  Schemas['PaymentTransaction'],
  | 'kind'
  | 'status'
  | 'captured_amount'
  | 'captured_currency'
  | 'captured_at'
  | 'refunded_amount'
  | 'refund_reserved_amount'
  | 'amount'
  | 'currency'
>;

/** What became of the money of a payment that could not be taken: held, on its way back, or back; null for every other payment. */
export function heldMoney(payment: Payment) {
  if (payment.kind === 'REFUND' || payment.status !== 'FAILED' || payment.captured_at === null) return null;
  const taken = payment.captured_amount ?? payment.amount;
  const back = payment.refunded_amount ?? 0;
  const promised = payment.refund_reserved_amount ?? 0;
  const left = sumOf([taken, -back, -promised]);
  return {
    taken,
    back,
    left,
    currency: payment.captured_currency ?? payment.currency,
    state: left > 0 ? ('DUE' as const) : promised > 0 ? ('UNDER_WAY' as const) : ('DONE' as const),
  };
}

/** What of a booking's payments has gone back, in the currency of its sale. */
export const refundedOf = (payments: Payment[]) =>
  sumOf(
    payments
      .filter(({ kind, status }) => kind === 'PAYMENT' && status !== 'FAILED')
      .map(({ refunded_amount }) => refunded_amount ?? 0),
  );

/** What of a payment that bought something can still be refunded. */
export const refundableOf = (payment: Payment & Pick<Schemas['PaymentTransaction'], 'outside_refunded_amount'>) =>
  sumOf([
    payment.captured_amount ?? payment.amount,
    -(payment.refunded_amount ?? 0),
    -(payment.refund_reserved_amount ?? 0),
    -payment.outside_refunded_amount,
  ]);
