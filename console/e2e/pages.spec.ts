import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { openAs, type Look } from './session';

const staff = [
  '/',
  '/bookings',
  '/payments',
  '/refunds',
  '/ledger',
  '/incidents?status=',
  '/providers',
  '/audit',
  '/trips',
  '/buses',
];
const company = ['/', '/trips', '/buses', '/hotels', '/rest-stops', '/campaigns', '/company-ledger'];

const looks: Look[] = [
  { language: 'ar', width: 1280 },
  { language: 'en', width: 1280, dark: true },
  { language: 'ar', width: 390, dark: true },
  { language: 'en', width: 390 },
];

for (const look of looks) {
  for (const [user, paths] of [
    ['super_admin', staff],
    ['provider_admin', company],
  ] as const) {
    test(`${user} in ${look.language} at ${String(look.width)}: no violations, no complaints`, async ({ page }) => {
      test.setTimeout(240_000);
      const complaints = await openAs(page, user, '/', look);
      for (const path of paths) {
        await page.goto(`/console${path}`);
        await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible();
        await expect(page.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 15_000 });
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(
          violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n')}`),
          path,
        ).toEqual([]);
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(wide, `${path} is wider than the window`).toBeLessThanOrEqual(0);
      }
      expect(complaints).toEqual([]);
    });
  }
}
