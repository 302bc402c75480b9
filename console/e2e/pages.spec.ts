import { expect, expectAccessible, inEveryLook, inScheme, open, openAs, settled, test, turnTo } from './fixtures';

const staff = [
  '/',
  '/bookings',
  '/cancellation-requests?status=',
  '/trip-cancellations',
  '/payments',
  '/refunds',
  '/ledger',
  '/incidents?status=',
  '/providers',
  '/users',
  '/audit',
  '/security',
  '/trips',
  '/check-in',
  '/buses',
  '/hotels',
  '/rest-stops',
  '/campaigns',
];
const company = [
  '/',
  '/trips',
  '/check-in',
  '/buses',
  '/hotels',
  '/rest-stops',
  '/campaigns',
  '/company-ledger',
  '/company',
  '/security',
];
const outside = ['/sign-in', '/forgot-password', '/reset-password#token', '/invitation#token', '/verify-email#token'];

for (const [role, paths] of [
  ['SUPER_ADMIN', staff],
  ['PROVIDER_ADMIN', company],
] as const) {
  test(`every page of ${role} is accessible, in light and dark`, inEveryLook, async ({ page }) => {
    test.setTimeout(240_000);
    await openAs(page, role, '/no-such-page');
    for (const path of ['/no-such-page', ...paths]) {
      if (path !== '/no-such-page') await turnTo(page, path);
      for (const colorScheme of ['light', 'dark'] as const) {
        await inScheme(page, colorScheme);
        await expectAccessible(page, `${path}, ${colorScheme}`);
      }
    }
  });
}

test('pages without a session are accessible, in light and dark', inEveryLook, async ({ page }) => {
  for (const path of outside) {
    await open(page, path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await inScheme(page, colorScheme);
      await expectAccessible(page, `${path}, ${colorScheme}`);
    }
  }
});

test('one of each kind is accessible from inside', inEveryLook, async ({ page }) => {
  await openAs(page, 'SUPER_ADMIN');
  for (const list of [
    'bookings',
    'cancellation-requests?status=',
    'trip-cancellations',
    'payments',
    'refunds',
    'ledger',
    'incidents?status=',
    'providers',
    'users',
    'audit',
  ]) {
    await open(page, `/${list}`);
    const first = page.locator('tbody tr[data-index="0"]');
    // A list may be empty in a service that has only just begun.
    if ((await first.count()) === 0) continue;
    await first.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog').or(page.locator('h2')).first()).toBeVisible();
    await settled(page);
    await expectAccessible(page, `the first of ${list}`);
  }
});

test('every page has help', inEveryLook, async ({ page, t }) => {
  await openAs(page, 'SUPER_ADMIN', '/no-such-page');
  for (const path of staff) {
    await turnTo(page, path);
    await page.getByRole('button', { name: t('help.open') }).click();
    await expect(
      page
        .getByRole('dialog', { name: t('help.title') })
        .locator('p')
        .first(),
    ).not.toBeEmpty();
    await page.keyboard.press('Escape');
  }
});
