import { expect, it } from 'vitest';
import { amountIn, cancelKey, effectOf } from './cancel';

// Half of 1,200.00, of which 50.00 went back before.
const quote = { refund_amount: 550, fee_amount: 600, full_amount: 1150, unpaid_fee_amount: 1150 };

it('finds what goes back and what is kept', () => {
  expect(effectOf(quote, { refund: 'POLICY' })).toEqual({ back: 550, fee: 600 });
  expect(effectOf(quote, { refund: 'FULL' })).toEqual({ back: 1150, fee: 0 });
  expect(effectOf(quote, { refund: 'AMOUNT', amount: '١٠٠٫٥٠' })).toEqual({ back: 100.5, fee: 1049.5 });
  expect(effectOf(quote, { refund: 'AMOUNT', amount: '1,300.00' })).toEqual({ back: 1300, fee: 0 });
  expect(effectOf(quote, { refund: 'AMOUNT', amount: 'much' })).toBeNull();
  expect(effectOf(quote, { refund: 'NONE' })).toEqual({ back: 0, fee: 1150 });
});

it('goes by the amount that the API has named', () => {
  expect(effectOf(quote, { refund: 'FULL' }, 1000)).toEqual({ back: 1000, fee: 0 });
  expect(effectOf(quote, { refund: 'POLICY' }, 500)).toEqual({ back: 500, fee: 650 });
  expect(amountIn('is 1,000.00 SAR now')).toBe(1000);
  expect(amountIn(undefined)).toBeNull();
});

it('tells apart what decides about money, and nothing else', () => {
  const values = { passenger_ids: 'b,a', refund: 'POLICY', amount: '5', reason: 'x' };
  expect(cancelKey(values)).toBe(cancelKey({ ...values, passenger_ids: 'a,b', amount: '6', reason: 'y' }));
  expect(cancelKey(values)).not.toBe(cancelKey({ ...values, refund: 'FULL' }));
  expect(cancelKey({ ...values, refund: 'AMOUNT' })).not.toBe(cancelKey({ ...values, refund: 'AMOUNT', amount: '6' }));
});
