import { expect, test } from '@playwright/test';
import { openAs } from './session';

test('finds and opens a booking by keyboard', async ({ page }) => {
  await openAs(page, 'support_agent', '/', { language: 'en', width: 1280 });
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  await expect(page).toHaveURL(/\/console\/bookings$/);
  await expect(page.locator('tbody tr[data-index="0"]')).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.locator('main [data-search]')).toBeFocused();
  await page.keyboard.type('RB-');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/search=RB-/);
  await page.goto('/console/bookings');
  await page.locator('tbody tr[data-index="0"]').focus();
  await page.keyboard.press('j');
  await expect(page.locator('tbody tr[data-index="1"]')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/console\/bookings\/[0-9a-f-]{36}$/);
  await expect(page.getByRole('heading', { name: 'What happened' })).toBeVisible();
});

test('comes back to the page that was asked for', async ({ page }) => {
  await page.goto('/console/refunds?channel=MANUAL');
  await expect(page).toHaveURL(/sign-in\?back=%2Frefunds%3Fchannel%3DMANUAL/);
});

test('a role sees the pages that it may use', async ({ page }) => {
  await openAs(page, 'support_agent', '/', { language: 'en', width: 1280 });
  const nav = page.getByRole('navigation');
  await expect(nav.getByRole('link', { name: 'Bookings' })).toBeVisible();
  await expect(nav.getByRole('link', { name: 'Ledger' })).toHaveCount(0);
  await expect(nav.getByRole('link', { name: 'Users' })).toHaveCount(0);
});
