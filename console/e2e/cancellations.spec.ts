import type { Page } from '@playwright/test';
import { dialog, expect, expectAccessible, field, inEveryLook, open, openAs, row, test } from './fixtures';
import { askToCancel, Caller, only, paidBooking, type Schemas } from './service';

/** A part of a button's name; a dot is a dot. */
const named = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));

/** The dialog of a decision; the drawer behind it has the word in its title, too. */
const decision = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });

const requests = '/cancellation-requests';

test('a request is approved from its drawer, which has an address', inEveryLook, async ({ page, t }) => {
  const booking = await paidBooking({ seats: 3 });
  const request = await askToCancel(booking, 1, 'One of us is ill');
  await openAs(page, 'FINANCE_ADMIN', `${requests}?search=${booking.booking_number}`);
  await expectAccessible(page, 'the list of requests');
  await row(page, booking.booking_number).click();
  await expect(page).toHaveURL(new RegExp(`#${request.id}$`));
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await expect(drawer).toContainText('Passenger 1');
  await expect(drawer).toContainText('One of us is ill');
  await expect(drawer.getByRole('table')).toContainText('1,150.00');
  await expectAccessible(page, 'a request');

  // Back closes it, and its address opens it again.
  await page.goBack();
  await expect(drawer).toBeHidden();
  await open(page, `${requests}?search=${booking.booking_number}#${request.id}`);
  await drawer.getByRole('button', { name: named('1,150.00') }).click();
  const form = decision(page, t('cancellation.approve'));
  await form.getByRole('button', { name: named('1,150.00') }).click();
  await expect(form).toBeHidden();
  await expect(drawer.getByText(t('state.cancellation.APPROVED'))).toBeVisible();
  const finance = await Caller.as('FINANCE_ADMIN');
  const refund = await only<Schemas['Refund']>(finance, `/api/v1/admin/refunds?booking_id=${booking.id}`);
  expect(refund.amount).toBe(1150);
});

test('a rejection needs a note, which the request then shows', async ({ page, t }) => {
  const booking = await paidBooking();
  const request = await askToCancel(booking);
  await openAs(page, 'ADMIN', `${requests}?search=${booking.booking_number}#${request.id}`);
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await drawer.getByRole('button', { name: t('cancellation.reject') }).click();
  const form = decision(page, t('cancellation.reject'));
  await form.locator('[type=submit]').click();
  await expect(field(form, t('cancellation.note'))).toBeFocused();
  await field(form, t('cancellation.note')).fill('The bus has left already');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect(drawer).toContainText(t('state.cancellation.REJECTED'));
  await expect(drawer).toContainText('The bus has left already');

  // Its address opens it also where the list leaves it out.
  await open(page, `${requests}?status=APPROVED#${request.id}`);
  await expect(drawer).toContainText('The bus has left already');
});

test('support reads a request and does not decide', async ({ page, t }) => {
  const booking = await paidBooking();
  const request = await askToCancel(booking);
  await openAs(page, 'SUPPORT_AGENT', `${requests}?search=${booking.booking_number}#${request.id}`);
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await expect(drawer).toContainText(t('cancellation.onlyReads'));
  await expect(drawer.getByRole('button', { name: t('cancellation.reject') })).toHaveCount(0);
});

test('a decision that came too late is said, and the drawer shows the other one', async ({ page, t, complaints }) => {
  complaints.expected.add(409);
  const booking = await paidBooking();
  const request = await askToCancel(booking);
  await openAs(page, 'ADMIN', `${requests}?search=${booking.booking_number}`);
  await row(page, booking.booking_number).click();
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await drawer.getByRole('button', { name: named('1,150.00') }).click();
  const form = decision(page, t('cancellation.approve'));
  await expect(form).toBeVisible();
  const other = await Caller.as('FINANCE_ADMIN');
  await other.post(`/api/v1/admin/cancellation-requests/${request.id}/reject`, { note: 'Not the customer' });
  await form.locator('[type=submit]').click();
  await expect(page.getByRole('alert').filter({ hasText: t('state.cancellation.REJECTED') })).toBeVisible();
  await expect(drawer).toContainText('Not the customer');
});

test('above the limit refund and passengers wait for a second person', async ({ page, t }) => {
  const booking = await paidBooking({ seats: 5 });
  const request = await askToCancel(booking);
  await openAs(page, 'FINANCE_ADMIN', `${requests}?search=${booking.booking_number}#${request.id}`);
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await drawer.getByRole('button', { name: named('5,750.00') }).click();
  const form = decision(page, t('cancellation.approve'));
  await expect(form.getByText(t('cancellation.willWait'))).toBeVisible();
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect(drawer.getByText(t('cancellation.waits'))).toBeVisible();
  const customer = await Caller.as('END_USER');
  const { data } = await customer.get<{ data: Schemas['Booking'] }>(`/api/v1/bookings/${booking.id}`);
  expect(data).toMatchObject({ status: 'CONFIRMED', seats: 5 });
});

test('who gets more since the trip was moved is said, with both amounts', async ({ page, t }) => {
  const booking = await paidBooking({ departs: 40 });
  const request = await askToCancel(booking);
  expect(request.quote.refund_amount).toBe(575);
  const company = await Caller.as('PROVIDER_ADMIN');
  await company.patch(`/api/v1/provider/trips/${booking.trip_id}`, {
    departure_at: new Date(Date.now() + 64 * 3_600_000).toISOString(),
  });
  await openAs(page, 'FINANCE_ADMIN', `${requests}?search=${booking.booking_number}#${request.id}`);
  const drawer = dialog(page, new RegExp(t('cancellation.title')));
  await expect(drawer.getByRole('status').filter({ hasText: '1,150.00' })).toContainText('575.00');
  await expect(drawer.getByRole('button', { name: named('1,150.00') })).toBeVisible();
});

test('the overview counts open requests, and two keys lead to them', async ({ page, t }) => {
  const booking = await paidBooking();
  await askToCancel(booking);
  await openAs(page, 'SUPPORT_AGENT');
  const tile = page.getByRole('main').getByRole('link', { name: t('wait.cancellations') });
  await expect(tile).toHaveAttribute('href', /cancellation-requests\?status=REQUESTED$/);
  await expect(tile.locator('b')).toHaveText(/^[1-9]/);
  await expect(async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await expect(page).toHaveURL(/\/console\/cancellation-requests$/, { timeout: 1_000 });
  }).toPass();
  // Those that are undecided, without a filter in the address.
  await expect(page.locator('tbody tr[data-index="0"]')).toContainText(t('state.cancellation.REQUESTED'));
});

test('the list of requests fits a small desktop', async ({ page, t, look }) => {
  const booking = await paidBooking();
  await askToCancel(booking);
  await openAs(page, 'FINANCE_ADMIN', `${requests}?search=${booking.booking_number}`);
  await expect(page.locator('tbody tr[data-index="0"]')).toContainText(booking.booking_number);
  if (look.width >= 768) await page.setViewportSize({ width: 1280, height: 860 });
  const over = await page
    .getByRole('table', { name: t('nav.cancellation-requests') })
    .evaluate((table) => table.scrollWidth - (table.parentElement?.clientWidth ?? 0));
  expect(over).toBeLessThanOrEqual(0);
});
