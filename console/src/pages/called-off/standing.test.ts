import { expect, it } from 'vitest';
import { isCarriedOut, sharesOf, standingOf } from './standing';

const counts = {
  bookings: 4,
  cancelled: 4,
  refunds_succeeded: 4,
  refunds_pending: 0,
  refunds_failed: 0,
  refunds_by_hand: 0,
};
const done = { ...counts, status: 'CANCELLED', needs_approval: false, requested_by: 'a', decided_by: null } as const;

it('says how a cancellation stands', () => {
  expect(standingOf({ ...done, status: 'CANCELLING', needs_approval: true })).toBe('waits');
  expect(standingOf({ ...done, status: 'CANCELLING' })).toBe('running');
  expect(standingOf({ ...done, status: 'REJECTED', decided_by: 'b' })).toBe('rejected');
  expect(standingOf({ ...done, status: 'REJECTED', decided_by: 'a' })).toBe('withdrawn');
  expect(standingOf({ ...done, status: 'EXPIRED' })).toBe('expired');
  expect(standingOf(done)).toBe('done');
  expect(standingOf({ ...done, bookings: 0, cancelled: 0, refunds_succeeded: 0 })).toBe('doneNoMoney');
});

it('says what a cancelled trip still waits for', () => {
  const one = { ...done, refunds_succeeded: 3 };
  expect(standingOf({ ...one, refunds_pending: 1 })).toBe('refunding');
  expect(standingOf({ ...one, refunds_failed: 1, refunds_by_hand: 1 })).toBe('payOut');
  expect(standingOf({ ...one, refunds_failed: 1 })).toBe('failed');
});

it('shows progress only of what is carried out', () => {
  expect(isCarriedOut('waits')).toBe(false);
  expect(isCarriedOut('expired')).toBe(false);
  expect(isCarriedOut('running')).toBe(true);
  expect(isCarriedOut('payOut')).toBe(true);
});

it('shares out its bars', () => {
  expect(sharesOf({ ...counts, cancelled: 2, refunds_succeeded: 1, refunds_pending: 1 })).toEqual({
    cancelled: 50,
    succeeded: 25,
    pending: 25,
    failed: 0,
  });
  // The money of one booking had gone back before.
  expect(sharesOf({ ...counts, refunds_succeeded: 2, refunds_failed: 1 })).toMatchObject({
    cancelled: 100,
    succeeded: 200 / 3,
    failed: 100 / 3,
  });
  expect(sharesOf({ ...counts, bookings: 0, cancelled: 0, refunds_succeeded: 0 })).toEqual({
    cancelled: 100,
    succeeded: 0,
    pending: 0,
    failed: 0,
  });
});
