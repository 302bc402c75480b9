import type { Page } from '@playwright/test';
import { expect, inEveryLook, open, openAs, test } from './fixtures';
import { newTrip, paidBooking } from './service';

/** Shows the page as it goes to paper: what the browser does when it prints. */
async function onPaper(page: Page): Promise<void> {
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
}

async function fromPaper(page: Page): Promise<void> {
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
}

/** What cannot be pressed on paper. */
const controls = (page: Page) =>
  page.locator('header, nav, search, .mantine-Button-root, .mantine-ActionIcon-root, input, tbody [type=checkbox]');

const lists = [
  ['/ledger?period=this_month', 'field.period', ['card.gross_amount', 'card.vat_amount', 'card.net_amount']],
  ['/payments?status=PAID', 'field.status', ['field.amount']],
  ['/bookings?status=CONFIRMED', 'field.status', ['field.amount', 'field.email']],
  ['/refunds', null, ['field.amount']],
] as const;

test('a list is printed with all of its columns, its filters and the date', inEveryLook, async ({ page, t }) => {
  await paidBooking();
  await openAs(page, 'FINANCE_ADMIN');
  for (const [path, filter, columns] of lists) {
    await open(page, path);
    await onPaper(page);
    await expect(page.getByRole('heading', { level: 1 }), path).toBeVisible();
    const head = page.locator('main p').filter({ hasText: t('print.at', { when: '' }).trim() });
    await expect(head, path).toBeVisible();
    if (filter) await expect(head, path).toContainText(t(filter));
    const table = page.locator('main table').filter({ visible: true });
    if (path !== '/refunds') {
      await expect(table, path).toHaveCount(1);
      for (const name of columns)
        await expect(table.getByRole('columnheader', { name: t(name), exact: true }), path).toBeVisible();
      await expect(table.locator('tbody tr').first(), path).toContainText(/\d\.\d\d/);
    }
    await expect(controls(page).filter({ visible: true }), path).toHaveCount(0);
    // Nothing is cut at the paper's edge.
    await page.setViewportSize({ width: 1047, height: 718 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(over, `${path} is wider than the paper`).toBeLessThanOrEqual(0);
    await fromPaper(page);
  }
});

test('a booking and a passenger list are printed without what is pressed', async ({ page, t }) => {
  const trip = await newTrip(undefined, 30);
  const booking = await paidBooking({ trip, seats: 2 });
  await openAs(page, 'ADMIN', `/bookings/${booking.id}`);
  await expect(page.getByRole('region', { name: t('nav.ledger') })).toContainText('2,300.00');
  await onPaper(page);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(booking.booking_number);
  await expect(page.getByText(t('print.at', { when: '' }).trim()).filter({ visible: true })).toHaveCount(1);
  await expect(page.getByRole('region', { name: t('nav.ledger') })).toContainText('2,300.00');
  await expect(controls(page).filter({ visible: true })).toHaveCount(0);
  await fromPaper(page);

  await open(page, `/check-in/${trip.id}`);
  await expect(page.getByText('Passenger 1').filter({ visible: true }).first()).toBeVisible();
  await onPaper(page);
  const sheet = page.locator('main table').filter({ visible: true });
  await expect(sheet.getByRole('row')).toHaveCount(3);
  await expect(page.getByText(t('print.at', { when: '' }).trim()).filter({ visible: true })).toHaveCount(1);
  await expect(controls(page).filter({ visible: true })).toHaveCount(0);
  await fromPaper(page);
});
