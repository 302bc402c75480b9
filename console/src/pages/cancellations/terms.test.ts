import { expect, it } from 'vitest';
import { givesNow, isBetter } from './terms';

const quote = (policy_percent: number, reason_code: 'POLICY' | 'RESCHEDULED' | 'TRIP_CANCELLED') => ({
  policy_percent,
  reason_code,
  refund_amount: policy_percent,
});
const asked = quote(50, 'POLICY');

it('pays the quote of asking, whatever the policy gives today', () => {
  expect(givesNow(asked, undefined)).toBe(50);
  expect(givesNow(asked, quote(0, 'POLICY'))).toBe(50);
  expect(givesNow(asked, quote(100, 'POLICY'))).toBe(50);
});

it('pays more when the trip was moved or cancelled since, and never less', () => {
  expect(givesNow(asked, quote(100, 'RESCHEDULED'))).toBe(100);
  expect(givesNow(asked, quote(100, 'TRIP_CANCELLED'))).toBe(100);
  expect(isBetter(quote(100, 'POLICY'), quote(100, 'RESCHEDULED'))).toBe(false);
  expect(givesNow(asked, quote(0, 'TRIP_CANCELLED'))).toBe(50);
});
