import type { Schemas } from '@/api/client';
import type { Values } from '@/forms/fields';
import { amountOf, sumOf } from '@/lib/money';

type Quote = Pick<Schemas['CancellationQuote'], 'refund_amount' | 'fee_amount' | 'full_amount' | 'unpaid_fee_amount'>;

/** The ids that a field of several choices holds. */
export const idsOf = ({ passenger_ids = '' }: Values) => passenger_ids.split(',').filter((id) => id !== '');

/** What decides about the money of a cancellation: what was shown for one key is not shown for another. */
export const cancelKey = (values: Values) =>
  [
    [...idsOf(values)].sort().join(','),
    values['refund'] ?? '',
    values['refund'] === 'AMOUNT' ? (values['amount'] ?? '').trim() : '',
  ].join(' ');

/**
 * What goes back for the passengers of the quote, and what is kept of what was paid for them; null while there is no amount. `now` is the
 * amount that the API has named when it refused another one.
 */
export function effectOf(quote: Quote, values: Values, now?: number): { back: number; fee: number } | null {
  const refund = values['refund'] as Schemas['CancelRefund'] | undefined;
  const asked = {
    POLICY: quote.refund_amount,
    FULL: quote.full_amount ?? null,
    AMOUNT: amountOf(values['amount'] ?? ''),
    NONE: 0,
  }[refund ?? 'POLICY'];
  if (asked === null) return null;
  const back = now ?? asked;
  if (refund === 'FULL') return { back, fee: 0 };
  // By the policy the fee is the quote's; without a refund the API names it, too, and an amount that is given back is less of it.
  const byPolicy = (refund ?? 'POLICY') === 'POLICY';
  const [fee, given] = byPolicy ? [quote.fee_amount, back - quote.refund_amount] : [quote.unpaid_fee_amount, back];
  return fee === undefined ? null : { back, fee: Math.max(0, sumOf([fee, -given])) };
}

/** The amount in a refusal's sentence. */
export function amountIn(text: string | undefined): number | null {
  const found = /\d[\d,]*\.\d{2}/.exec(text ?? '');
  return found ? Number(found[0].replaceAll(',', '')) : null;
}
