import { choose, dialog, expect, expectAccessible, field, open, openAs, settled, test } from './fixtures';
import { emailOf, paidBooking } from './service';

test('finds and opens a booking by keyboard', async ({ page, t }) => {
  await paidBooking();
  await paidBooking();
  await openAs(page, 'SUPPORT_AGENT');
  // The two keys belong together when they come within a second, which a busy machine may miss.
  await expect(async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await expect(page).toHaveURL(/\/console\/bookings$/, { timeout: 1_000 });
  }).toPass();
  await expect(page.locator('tbody tr[data-index="1"]')).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.locator('header [data-search]')).toBeFocused();
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

test('after a refusal the keyboard is where it can be put right', async ({ page, t, complaints }) => {
  complaints.expected.add(409).add(422);
  await openAs(page, 'SUPER_ADMIN', '/users');
  await page.getByRole('button', { name: t('user.invite') }).click();
  const form = dialog(page, t('user.invite'));
  await field(form, t('field.name')).fill('A new user');
  await field(form, t('field.email')).fill(emailOf('SUPPORT_AGENT'));
  await choose(form, t('field.role'), t('role.FINANCE_ADMIN'));
  const phone = field(form, t('field.phone'));
  await phone.fill('12');
  await page.keyboard.press('Enter');
  await expect(phone).toBeFocused();
  await expect(phone).toHaveAttribute('aria-invalid', 'true');
  await phone.fill('+966512345678');
  await page.keyboard.press('Enter');
  await expect(form.getByRole('alert')).toBeVisible();
  await expectAccessible(page, 'a dialog with its refusal');
  await expect(form.locator('[aria-invalid=true], [type=submit]').first()).toBeFocused();
});
