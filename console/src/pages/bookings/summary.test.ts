import { expect, it } from 'vitest';
import { moneyOf, nextStep } from './summary';

const now = Date.parse('2026-11-28T09:00:00Z');
type Booking = Parameters<typeof nextStep>[0];
type Payment = Parameters<typeof nextStep>[1][number];

const payment: Payment = {
  kind: 'PAYMENT',
  status: 'PAID',
  amount: 1150,
  currency: 'SAR',
  captured_at: '2026-11-20T09:00:00Z',
  captured_amount: null,
  captured_currency: null,
  refunded_amount: 500,
  refund_reserved_amount: 75,
};
const booking = {
  status: 'CONFIRMED',
  departure_at: '2026-12-20T05:00:00Z',
  passengers: [],
  refunds: [],
  cancellation_requests: [],
  payment: { expires_at: '2026-11-28T09:15:00Z' },
} as unknown as Booking;
const ordered = { status: 'PENDING', needs_approval: false, needs_payout: false } as const;

it('adds up what was paid, went back, is on its way and stays', () => {
  const refunds = [{ status: 'PENDING', amount: 75 }] as NonNullable<Booking['refunds']>;
  expect(moneyOf({ ...booking, refunds }, [payment])).toEqual({ paid: 1150, refunded: 500, underWay: 75, kept: 575 });
  expect(moneyOf(booking, [{ ...payment, status: 'FAILED', refunded_amount: 0 }]).paid).toBe(0);
});

it('names the step that people have to take before what happens by itself', () => {
  const step = (changes: Partial<Booking>, refunds: Parameters<typeof nextStep>[2] = [], payments = [payment]) =>
    nextStep({ ...booking, ...changes }, payments, refunds, now);
  const asked = { cancellation_requests: [{ status: 'REQUESTED' }] } as Partial<Booking>;
  const back = { refunds: [{ status: 'SUCCEEDED', expected_by: '2026-12-12' }] } as Partial<Booking>;
  expect(step({ ...asked, ...back }, [{ ...ordered, needs_approval: true }]).step).toBe('decide');
  expect(step(back, [{ ...ordered, needs_approval: true }]).step).toBe('approve');
  expect(step(back, [{ ...ordered, needs_payout: true }]).step).toBe('payOut');
  expect(step(back, [ordered]).step).toBe('refund');
  expect(step(back)).toEqual({ step: 'arrives', at: '2026-12-12' });
  expect(step({})).toEqual({ step: 'travel', at: '2026-12-20T05:00:00Z' });
  expect(step({ departure_at: '2026-11-27T05:00:00Z' }).step).toBe('none');
  expect(step({ status: 'PENDING_PAYMENT' }, [], [])).toEqual({ step: 'pay', at: '2026-11-28T09:15:00Z' });
  expect(step({ status: 'PAYMENT_FAILED' }, [], []).step).toBe('unpaid');
  expect(step({ status: 'CANCELLED' }).step).toBe('none');
});

it('says first that captured money has bought nothing', () => {
  const held: Payment = { ...payment, status: 'FAILED', refunded_amount: 0, refund_reserved_amount: 0 };
  expect(nextStep({ ...booking, status: 'PAYMENT_FAILED' }, [held], [], now).step).toBe('giveBack');
});
