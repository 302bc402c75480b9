import type { Page } from '@playwright/test';
import { dialog, expect, expectAccessible, field, inEveryLook, open, openAs, row, test } from './fixtures';
import { Caller, fault, newBooking, newTrip, paidBooking, type Schemas } from './service';

type Answer<T> = { data: T };

const cancellation = async (trip: Schemas['Trip']) => {
  const admin = await Caller.as('ADMIN');
  return (await admin.get<Answer<Schemas['TripCancellation']>>(`/api/v1/provider/trips/${trip.id}/cancellation`)).data;
};

/** Opens a trip beside its list. */
async function beside(page: Page, trip: Schemas['Trip']) {
  await row(page, trip.title).click();
  const drawer = dialog(page, trip.title);
  await expect(drawer).toBeVisible();
  return drawer;
}

/** A button whose name has all of these in it. */
const named = (...texts: string[]) =>
  new RegExp(texts.map((text) => `(?=.*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`).join(''), 's');

// All that the company calls off here stays below the limit for one person within 24 hours, in all looks together.
test('a company calls a trip off, and sees it come to its end', inEveryLook, async ({ page, t }) => {
  const trip = await newTrip();
  await paidBooking({ trip });
  await paidBooking({ trip });
  await newBooking({ trip });
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  const drawer = await beside(page, trip);
  await drawer.getByRole('button', { name: t('calledOff.start') }).click();
  const form = dialog(page, t('calledOff.titleOf', { trip: `\u2068${trip.title}\u2069` }));
  await expect(form.getByRole('region', { name: t('calledOff.effect') })).toContainText('2,300.00');
  await expectAccessible(page, 'calling a trip off');

  // Without a reason nothing is sent.
  const goes = form.getByRole('button', { name: named('2,300.00', t('count.bookings', { count: 2 })) });
  await goes.click();
  await expect(field(form, t('calledOff.reason'))).toBeFocused();
  await field(form, t('calledOff.reason')).fill('The bus broke down');
  await goes.click();
  await expect(form).toBeHidden();
  const bar = drawer.getByRole('progressbar', { name: t('calledOff.cancelled', { done: 2, total: 2 }) });
  await expect(bar).toHaveAttribute('aria-valuenow', '100');
  await expect(drawer).toContainText(t('calledOff.standing.done'));
  await expectAccessible(page, 'a trip that was called off');
  await expect(row(page, trip.title)).toContainText(t('state.trip.CANCELLED'));
  // Nothing of it can be changed any more.
  await expect(drawer.getByRole('button', { name: t('action.edit') })).toHaveCount(0);
  await expect(drawer.getByRole('button', { name: t('calledOff.start') })).toHaveCount(0);

  // It has an address, and Back leads to the list.
  await drawer.getByRole('link', { name: t('calledOff.show') }).click();
  await expect(page).toHaveURL(new RegExp(`/trip-cancellations/${trip.id}$`));
  await expect(page.locator('main')).toContainText('The bus broke down');
  await expectAccessible(page, 'the page of a cancellation');
  await page.goBack();
  await expect(row(page, trip.title)).toBeVisible();
  expect(await cancellation(trip)).toMatchObject({ status: 'CANCELLED', cancelled: 2, refunds_succeeded: 2 });
});

test('what is sold meanwhile is said with its amount, and what was typed stays', async ({ page, t, complaints }) => {
  complaints.expected.add(409);
  const trip = await newTrip();
  await paidBooking({ trip });
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  const drawer = await beside(page, trip);
  await drawer.getByRole('button', { name: t('calledOff.start') }).click();
  const form = dialog(page, t('calledOff.titleOf', { trip: `\u2068${trip.title}\u2069` }));
  await field(form, t('calledOff.reason')).fill('No guide');
  const before = form.getByRole('button', { name: named('1,150.00') });
  await expect(before).toBeEnabled();
  await paidBooking({ trip });
  await before.click();
  await expect(form.getByRole('alert')).toContainText('2,300.00');
  await expect(field(form, t('calledOff.reason'))).toHaveValue('No guide');
  await form.getByRole('button', { name: named('2,300.00') }).click();
  await expect(form).toBeHidden();
  await expect(drawer).toContainText(t('calledOff.standing.done'));
});

test('a refund that the gateway refuses waits for its payout, and stops no other', async ({ page, t }) => {
  const trip = await newTrip();
  const one = await paidBooking({ trip });
  await paidBooking({ trip });
  await fault(one, 'refund', 'reject');
  const admin = await Caller.as('ADMIN');
  await admin.post(`/api/v1/provider/trips/${trip.id}/cancel`, { reason: 'Storm', expected_refund_total: 2300 });
  await openAs(page, 'ADMIN', `/trip-cancellations/${trip.id}`);
  const main = page.locator('main');
  await expect(main).toContainText(t('calledOff.standing.payOut'));
  await expect(main.getByRole('list', { name: t('calledOff.refunds') })).toContainText(t('refund.needsPayout'));
  await expectAccessible(page, 'a cancellation with a refund to pay out');
  await main.getByRole('link', { name: t('calledOff.openPayouts') }).click();
  await expect(page).toHaveURL(/refunds\?needs_payout=true&provider_id=/);
  await expect(page.locator('tbody tr[data-index="0"]')).toBeVisible();
});

test('above the limit a second person approves', async ({ page, other, t }) => {
  test.setTimeout(180_000);
  const trip = await newTrip();
  await paidBooking({ trip, seats: 9 });
  await paidBooking({ trip, seats: 9 });
  await openAs(page, 'ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  const drawer = await beside(page, trip);
  await drawer.getByRole('button', { name: t('calledOff.start') }).click();
  const form = dialog(page, t('calledOff.titleOf', { trip: `\u2068${trip.title}\u2069` }));
  await expect(form.getByText(t('calledOff.willWait'))).toBeVisible();
  await expectAccessible(page, 'calling a large trip off');
  await field(form, t('calledOff.reason')).fill('Too few guests');
  await form.getByRole('button', { name: named('20,700.00') }).click();
  await expect(form).toBeHidden();

  // The one who asked cannot approve, and may withdraw.
  await expect(drawer).toContainText(t('calledOff.own'));
  await expect(drawer.getByRole('button', { name: named('20,700.00') })).toBeDisabled();
  await expect(drawer.getByRole('button', { name: t('calledOff.withdraw') })).toBeVisible();
  await expectAccessible(page, 'a trip that waits for an approval');
  await open(page, '/');
  const tile = page.getByRole('main').getByRole('link', { name: t('wait.trips') });
  await expect(tile).toHaveAttribute('href', /trips\?status=CANCELLING$/);
  await expect(tile.locator('b')).toHaveText(/^[1-9]/);

  await openAs(other, 'FINANCE_ADMIN', `/trip-cancellations/${trip.id}`);
  const main = other.locator('main');
  await expect(main).toContainText('Too few guests');
  await expectAccessible(other, 'a cancellation to approve');
  await main.getByRole('button', { name: named('20,700.00', t('count.bookings', { count: 2 })) }).click();
  const decision = other.getByRole('dialog', { name: t('calledOff.approve'), exact: true });
  await expect(decision).toContainText(t('calledOff.approveHint'));
  await expectAccessible(other, 'approving a cancellation');
  await decision.getByRole('button', { name: named('20,700.00') }).click();
  await expect(decision).toBeHidden();
  await expect(main).toContainText(t('calledOff.standing.done'));
  expect(await cancellation(trip)).toMatchObject({ status: 'CANCELLED', cancelled: 2, refunded_total: 20700 });
});

test('a rejection needs a note, and the trip is sold again; a late one is said', async ({
  page,
  other,
  t,
  complaints,
}) => {
  complaints.expected.add(409);
  const trip = await newTrip();
  await paidBooking({ trip, seats: 9 });
  await paidBooking({ trip, seats: 9 });
  const admin = await Caller.as('SUPER_ADMIN');
  await admin.post(`/api/v1/provider/trips/${trip.id}/cancel`, { reason: 'Too few', expected_refund_total: 20700 });
  for (const [of, role] of [
    [page, 'FINANCE_ADMIN'],
    [other, 'ADMIN'],
  ] as const) {
    await openAs(of, role, `/trip-cancellations/${trip.id}`);
    await of
      .locator('main')
      .getByRole('button', { name: t('calledOff.reject') })
      .click();
  }
  const form = dialog(page, t('calledOff.reject'));
  await form.locator('[type=submit]').click();
  await expect(field(form, t('field.note'))).toBeFocused();
  await field(form, t('field.note')).fill('Another bus was found');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect(page.locator('main')).toContainText(t('calledOff.standing.rejected'));
  await expect(page.locator('main')).toContainText('Another bus was found');

  const late = dialog(other, t('calledOff.reject'));
  await field(late, t('field.note')).fill('No');
  await late.locator('[type=submit]').click();
  await expect(other.getByRole('alert').filter({ hasText: t('enum.REJECTED') })).toBeVisible();
  await open(other, `/trips?search=${encodeURIComponent(trip.title)}`);
  await expect(row(other, trip.title)).toContainText(t('state.trip.PUBLISHED'));
});

test('support reads a cancellation; staff of a company call nothing off', async ({ page, t, complaints }) => {
  complaints.expected.add(404);
  const trip = await newTrip();
  await openAs(page, 'SUPPORT_AGENT', `/trip-cancellations/${trip.id}`);
  await expect(page.locator('main')).toContainText(t('calledOff.none'));
  await openAs(page, 'PROVIDER_STAFF', `/trips?search=${encodeURIComponent(trip.title)}`);
  const drawer = await beside(page, trip);
  await expect(drawer.getByRole('link', { name: t('portal.checkIn') })).toBeVisible();
  await expect(drawer.getByRole('button', { name: t('calledOff.start') })).toHaveCount(0);
});
