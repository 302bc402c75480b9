import type { Schemas } from '@/api/client';
import { sumOf } from '@/lib/money';
import { heldMoney, refundedOf } from '@/shared/paymentMoney';

type Booking = Pick<
  Schemas['Booking'],
  'status' | 'departure_at' | 'refunds' | 'cancellation_requests' | 'passengers' | 'payment'
>;
type Payment = Parameters<typeof heldMoney>[0];
type Cancellation = Pick<Schemas['TripCancellation'], 'needs_approval' | 'approval_until'>;
type Refund = Pick<Schemas['Refund'], 'status' | 'needs_approval' | 'needs_payout'>;

/** The request that waits for a decision. */
export const openRequest = ({ cancellation_requests = [] }: Pick<Booking, 'cancellation_requests'>) =>
  cancellation_requests.find(({ status }) => status === 'REQUESTED');

/** What was paid for a booking, what of it went back, what is on its way back, and what stays. */
export function moneyOf({ refunds = [] }: Pick<Booking, 'refunds'>, payments: Payment[]) {
  const paid = sumOf(
    payments
      .filter(({ kind, status, captured_at }) => kind === 'PAYMENT' && status !== 'FAILED' && captured_at !== null)
      .map(({ amount }) => amount),
  );
  const refunded = refundedOf(payments);
  const underWay = sumOf(refunds.filter(({ status }) => status === 'PENDING').map(({ amount }) => amount));
  return { paid, refunded, underWay, kept: sumOf([paid, -refunded, -underWay]) };
}

export type Step =
  | 'pay'
  | 'unpaid'
  | 'giveBack'
  | 'decide'
  | 'callOff'
  | 'approve'
  | 'payOut'
  | 'refund'
  | 'arrives'
  | 'travel'
  | 'none';

/** What happens next with a booking, and by when; what people have to do comes first. */
export function nextStep(
  booking: Booking,
  payments: Payment[],
  refunds: Refund[],
  now: number,
  /** The cancellation of its trip. */
  off: Cancellation | null = null,
): { step: Step; at: string | null } {
  const plain = (step: Step) => ({ step, at: null });
  const lastDay = (of: Schemas['RefundStatus']) =>
    (booking.refunds ?? [])
      .flatMap(({ status, expected_by }) => (status === of && expected_by ? [expected_by] : []))
      .sort()
      .at(-1) ?? null;
  if (payments.some((payment) => heldMoney(payment)?.state === 'DUE')) return plain('giveBack');
  if (openRequest(booking)) return plain('decide');
  if (refunds.some(({ needs_approval }) => needs_approval)) return plain('approve');
  if (refunds.some(({ needs_payout }) => needs_payout)) return { step: 'payOut', at: lastDay('PENDING') };
  if (refunds.some(({ status }) => status === 'PENDING')) return { step: 'refund', at: lastDay('PENDING') };
  if (off?.needs_approval) return { step: 'callOff', at: off.approval_until };
  if (booking.status === 'PENDING_PAYMENT') return { step: 'pay', at: booking.payment.expires_at };
  if (booking.status === 'PAYMENT_FAILED') return plain('unpaid');
  const arrives = lastDay('SUCCEEDED');
  // All of that day, in Riyadh.
  if (arrives && now < Date.parse(`${arrives}T23:59:59+03:00`)) return { step: 'arrives', at: arrives };
  if (booking.status === 'CONFIRMED' && now < Date.parse(booking.departure_at))
    return { step: 'travel', at: booking.departure_at };
  return plain('none');
}
