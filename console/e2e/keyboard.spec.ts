import { expect, open, openAs, settled, test } from './fixtures';
import { paidBooking } from './service';

test('finds and opens a booking by keyboard', async ({ page, t }) => {
  await paidBooking();
  await paidBooking();
  await openAs(page, 'SUPPORT_AGENT');
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  await expect(page).toHaveURL(/\/console\/bookings$/);
  await expect(page.locator('tbody tr[data-index="1"]')).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.locator('main [data-search]')).toBeFocused();
  await page.keyboard.type('RB-');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/search=RB-/);
  await open(page, '/bookings');
  await page.locator('tbody tr[data-index="0"]').focus();
  await page.keyboard.press('j');
  await expect(page.locator('tbody tr[data-index="1"]')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/console\/bookings\/[0-9a-f-]{36}$/);
  await expect(page.getByRole('heading', { name: t('timeline.title') })).toBeVisible();
  await settled(page);
});

test('comes back to the page that was asked for', async ({ page }) => {
  await page.goto('/console/refunds?channel=MANUAL');
  await expect(page).toHaveURL(/sign-in\?back=%2Frefunds%3Fchannel%3DMANUAL/);
});

test('a role sees the pages that it may use', async ({ page, t, look }) => {
  await openAs(page, 'SUPPORT_AGENT');
  if (look.width < 768) await page.getByRole('button', { name: t('app.menu') }).click();
  const nav = page.getByRole('navigation', { name: t('app.menu') });
  await expect(nav.getByRole('link', { name: t('nav.bookings') })).toBeVisible();
  await expect(nav.getByRole('link', { name: t('nav.ledger') })).toHaveCount(0);
  await expect(nav.getByRole('link', { name: t('nav.users') })).toHaveCount(0);
});
