import type { Page } from '@playwright/test';
import { expect, expectAccessible, open, openAs, test } from './fixtures';
import {
  askToCancel,
  Caller,
  newTrip,
  paidBooking,
  press,
  newBooking,
  fault,
  eventually,
  type Schemas,
} from './service';

const first = (page: Page) => page.locator('tbody tr[data-index="0"]');

/** How far the rows are scrolled: the table itself on wide screens, the page on a telephone. */
const scrolled = (page: Page) =>
  page.evaluate(() =>
    Math.max(
      ...['main', 'main table'].map((name) => {
        const found = document.querySelector(name);
        return (name === 'main' ? found : found?.parentElement)?.scrollTop ?? 0;
      }),
    ),
  );

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate((to) => {
    for (const one of [document.querySelector('main'), document.querySelector('main table')?.parentElement])
      one?.scrollTo({ top: to });
  }, top);
  await expect.poll(() => scrolled(page)).toBeGreaterThan(0);
}

/** One of everything that a list shows beside itself. */
async function everything(): Promise<void> {
  const trip = await newTrip();
  const [refunded, asked] = [await paidBooking({ trip }), await paidBooking({ trip })];
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${refunded.id}/refund`, { refund_type: 'FULL', reason: 'To look at' });
  await askToCancel(asked);
  const wrong = await newBooking({});
  await fault(wrong, 'webhook', 'wrong_amount');
  await press(wrong, 'succeed');
  const admin = await Caller.as('ADMIN');
  await eventually('the incident', async () => {
    const { data } = await admin.get<{ data: Schemas['Incident'][] }>('/api/v1/admin/incidents?sort=-created_at');
    return data.find(({ booking_id }) => booking_id === wrong.id);
  });
  const company = await Caller.as('PROVIDER_ADMIN');
  await company.post('/api/v1/provider/ad-campaigns', {
    trip_id: trip.id,
    title: `Campaign of ${trip.title}`,
    starts_on: trip.departure_at.slice(0, 10),
    ends_on: trip.departure_at.slice(0, 10),
    price: 500,
  });
}

const staff = [
  '/refunds',
  '/ledger',
  '/incidents?status=',
  '/cancellation-requests?status=',
  '/users',
  '/audit',
  '/trips',
  '/buses',
  '/hotels',
  '/campaigns',
];
const company = ['/trips', '/buses', '/hotels', '/campaigns', '/company-ledger'];

test('what is beside a list has an address, and Back closes it', async ({ page }) => {
  test.setTimeout(240_000);
  await everything();
  for (const [role, paths] of [
    ['SUPER_ADMIN', staff],
    ['PROVIDER_ADMIN', company],
  ] as const) {
    await openAs(page, role);
    for (const path of paths) {
      await open(page, path);
      const list = page.url();
      await first(page).click();
      const drawer = page.getByRole('dialog');
      await expect(drawer, path).toBeVisible();
      const address = page.url();
      expect(address, path).toMatch(/#[\da-f-]{36}$/);
      const heading = (await drawer.getByRole('heading').first().textContent()) ?? '';
      await page.goBack();
      await expect(drawer, path).toHaveCount(0);
      expect(page.url(), path).toBe(list);
      // The address alone opens the same, and closing it leaves the list.
      await page.goto('about:blank');
      await page.goto(address);
      await expect(drawer.getByRole('heading').first(), path).toHaveText(heading);
      await page.keyboard.press('Escape');
      await expect(drawer, path).toHaveCount(0);
      expect(page.url(), path).toBe(list);
    }
  }
});

test('a row that is not in the list says so, and one that is not there at all', async ({ page, t, complaints }) => {
  complaints.expected.add(404);
  await openAs(page, 'SUPER_ADMIN', '/refunds#01a2236c-6e45-7530-b7f3-b81b3cb1349c');
  await expect(page.getByRole('dialog').getByText(t('list.notFound'))).toBeVisible();
  await expectAccessible(page, 'a refund that is not there');
  await open(page, '/audit#01a2236c-6e45-7530-b7f3-b81b3cb1349c');
  await expect(page.getByRole('dialog').getByText(t('list.notListed'))).toBeVisible();
});

test('Back closes balances, and a refund beside its booking', async ({ page, t }) => {
  const booking = await paidBooking();
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/refund`, { refund_type: 'FULL', reason: 'To look at' });
  await openAs(page, 'FINANCE_ADMIN', '/ledger');
  await page.getByRole('button', { name: t('balance.all') }).click();
  await expect(page.getByRole('dialog', { name: t('balance.all') })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(/\/ledger$/);
  await open(page, `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('booking.openRefund') }).click();
  await expect(page.getByRole('dialog')).toContainText(t('refund.title'));
  await expect(page).toHaveURL(/#[\da-f-]{36}$/);
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`/bookings/${booking.id}$`));
});

test('a list is where it was left, and a page begins at its top', async ({ page }) => {
  await openAs(page, 'SUPER_ADMIN', '/users');
  await page.getByRole('heading', { level: 1 }).waitFor();
  // So low that there is somewhere to scroll to.
  await page.setViewportSize({ width: page.viewportSize()?.width ?? 1280, height: 420 });
  await scrollTo(page, 150);
  const person = page.locator('tbody tr[data-index]').nth(2);
  await person.focus();
  const before = await scrolled(page);
  await person.press('Enter');
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(await scrolled(page)).toBe(before);
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await scrolled(page)).toBe(before);

  const trip = await newTrip();
  for (let made = 0; made < 4; made++) await paidBooking({ trip });
  await open(page, '/bookings');
  await scrollTo(page, 120);
  const booking = page.locator('tbody tr[data-index]').nth(3);
  await booking.focus();
  const left = await scrolled(page);
  await booking.press('Enter');
  await expect(page).toHaveURL(/\/bookings\/[\da-f-]{36}$/);
  await page.locator('h2').first().waitFor();
  expect(await page.evaluate(() => document.querySelector('main')?.scrollTop)).toBe(0);
  await page.goBack();
  await expect(page).toHaveURL(/\/bookings$/);
  await expect.poll(() => scrolled(page)).toBe(left);
});
