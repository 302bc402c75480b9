import { expect, it } from 'vitest';
import { heldMoney, refundableOf, refundedOf } from './paymentMoney';

const payment = (more: object) => ({
  kind: 'PAYMENT' as const,
  status: 'FAILED' as const,
  amount: 1150,
  currency: 'SAR' as const,
  captured_at: '2026-11-25T10:00:00Z',
  captured_amount: 1151,
  captured_currency: 'SAR',
  refunded_amount: 0,
  refund_reserved_amount: 0,
  ...more,
});

it.each([
  ['held', {}, { state: 'DUE', left: 1151 }],
  ['on its way back', { refund_reserved_amount: 1151 }, { state: 'UNDER_WAY', left: 0 }],
  ['back', { refunded_amount: 1151 }, { state: 'DONE', left: 0 }],
  ['back in part', { refunded_amount: 0.1, refund_reserved_amount: 0.2 }, { state: 'DUE', left: 1150.7 }],
])('money that is %s', (_, more, want) => {
  expect(heldMoney(payment(more))).toMatchObject(want);
});

it('a payment that was taken, or took nothing, holds no money', () => {
  expect(heldMoney(payment({ status: 'PAID' }))).toBeNull();
  expect(heldMoney(payment({ captured_at: null }))).toBeNull();
});

it('adds up what has gone back of the sale', () => {
  expect(
    refundedOf([
      payment({ status: 'PARTIAL_REFUND', refunded_amount: 575 }),
      payment({ refunded_amount: 1151 }),
      payment({ kind: 'REFUND', status: 'REFUNDED', refunded_amount: 575 }),
    ]),
  ).toBe(575);
});

it('says what of a payment can still be refunded', () => {
  const paid = { ...payment({ status: 'PAID', captured_amount: null }), outside_refunded_amount: 0 };
  expect(refundableOf(paid)).toBe(1150);
  expect(
    refundableOf({ ...paid, refunded_amount: 0.1, refund_reserved_amount: 0.2, outside_refunded_amount: 100 }),
  ).toBe(1049.7);
});
