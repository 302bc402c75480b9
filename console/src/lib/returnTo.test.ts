import { expect, it } from 'vitest';
import { returnTo } from './returnTo';

it('is the page with its filters', () => {
  expect(returnTo('/refunds?status=PENDING')).toBe('/console/refunds?status=PENDING');
});

it('is the page alone when the API would not take the filters', () => {
  expect(returnTo(`/refunds?search=${'x'.repeat(500)}`)).toBe('/console/refunds');
});
