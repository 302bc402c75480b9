import type { Locator, Page } from '@playwright/test';
import { dialog, expect, expectAccessible, field, inEveryLook, open, openAs, row, test } from './fixtures';
import { emailOf } from './service';

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });

/** Everything that may be chosen in it is in the window. */
async function expectInSight(popup: Locator): Promise<void> {
  await expect(popup).toBeInViewport({ ratio: 1 });
}

test('menus are accessible while they are open, and worked by keyboard', inEveryLook, async ({ page, t, look }) => {
  await openAs(page, 'FINANCE_ADMIN', '/ledger');
  for (const [opener, item] of [
    // Cards have no columns to choose.
    ...(look.width < 768 ? [] : [[button(page, t('list.columns')), 'menuitemcheckbox'] as const]),
    [button(page, t('export.title')), 'menuitem'],
    [page.getByRole('banner').locator('[aria-haspopup=menu]'), 'menuitem'],
  ] as const) {
    await opener.focus();
    await page.keyboard.press('Enter');
    const menu = page.getByRole('menu');
    await expectInSight(menu);
    await expect(menu.getByRole(item).first()).toBeFocused();
    await expectAccessible(page, `menu of ${(await opener.textContent()) ?? ''}`);
    await page.keyboard.press('ArrowDown');
    await expect(menu.getByRole(item).nth(1)).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(menu).toHaveCount(0);
    await expect(opener).toBeFocused();
  }
});

test('lists to choose from are accessible while they are open', inEveryLook, async ({ page, t, look }) => {
  await openAs(page, 'SUPER_ADMIN', '/audit');
  if (look.width < 768) await page.locator('search button[aria-expanded]').click();
  await field(page.locator('search'), t('audit.action')).click();
  await expectInSight(page.getByRole('listbox'));
  await expectAccessible(page, 'a filter with more choices than are in sight');

  await open(page, '/users');
  await button(page, t('user.invite')).click();
  const form = dialog(page, t('user.invite'));
  await field(form, t('field.role')).click();
  await expectInSight(page.getByRole('listbox'));
  await expectAccessible(page, 'a field of a form');
});

test('buttons are legible under the pointer', inEveryLook, async ({ page, t }) => {
  await page.goto('/console/sign-in');
  await page.locator('[type=submit]').hover();
  await expectAccessible(page, 'the button that signs in');
  await openAs(page, 'SUPER_ADMIN', `/users?search=${emailOf('SUPPORT_AGENT')}`);
  const invite = button(page, t('user.invite'));
  await invite.hover();
  await expectAccessible(page, 'the button that opens a form');
  await invite.click();
  await dialog(page, t('user.invite')).locator('[type=submit]').hover();
  await expectAccessible(page, 'the button that sends it');
  await page.keyboard.press('Escape');
  await row(page, emailOf('SUPPORT_AGENT')).click();
  await button(page, t('user.action.remove')).click();
  await dialog(page, t('user.action.remove')).locator('[type=submit]').hover();
  await expectAccessible(page, 'a button that takes something away');
});
