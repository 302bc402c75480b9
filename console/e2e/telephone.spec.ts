import type { Page } from '@playwright/test';
import { dialog, expect, expectAccessible, field, onTelephones, open, openAs, row, test } from './fixtures';
import { newBooking, newTrip, paidBooking } from './service';

test('the only booking that a search finds is opened', async ({ page, t }) => {
  const booking = await paidBooking();
  await openAs(page, 'SUPPORT_AGENT', '/payments');
  const search = page.getByRole('banner').getByRole('searchbox', { name: t('search.label') });
  // As people say it.
  await search.fill(booking.contact.phone.replace('+9665', '05'));
  await search.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/bookings/${booking.id}$`));
  // What was asked for is not kept on another page.
  await expect(search).toHaveValue('');

  await search.fill('Customer');
  await search.press('Enter');
  await expect(page).toHaveURL(/\/bookings\?search=Customer$/);
  await expect(search).toHaveValue('Customer');
  // One search, and what it narrows the list to is taken away by one press.
  await expect(page.getByRole('searchbox')).toHaveCount(1);
  await page.getByRole('button', { name: t('list.without', { filter: t('list.search') }) }).click();
  await expect(page).toHaveURL(/\/bookings$/);
  await expect(search).toHaveValue('');
});

/** Whether a text of the field is cut, at the field's own width. */
const cut = (page: Page) =>
  page
    .getByRole('banner')
    .locator('[data-search]')
    .evaluate((input: HTMLInputElement) => {
      const probe = document.createElement('canvas').getContext('2d');
      if (!probe) throw new Error('no canvas');
      const style = getComputedStyle(input);
      probe.font = style.font;
      const room = input.clientWidth - parseFloat(style.paddingInlineStart) - parseFloat(style.paddingInlineEnd);
      return probe.measureText(input.placeholder).width > room;
    });

test(
  'the words in the search are not cut, and the menu closes on the page that is open',
  onTelephones,
  async ({ page, t }) => {
    await openAs(page, 'SUPPORT_AGENT', '/bookings');
    expect(await cut(page)).toBe(false);
    await page.getByRole('button', { name: t('app.menu') }).click();
    const menu = page.getByRole('dialog').getByRole('navigation', { name: t('app.menu') });
    await menu.getByRole('link', { name: t('nav.bookings') }).click();
    await expect(menu).toHaveCount(0);
  },
);

const lists = ['/bookings', '/payments', '/ledger', '/users', '/audit', '/trips', '/buses', '/hotels', '/providers'];

test('a row is a card: title, amount, state and one line', onTelephones, async ({ page }) => {
  await paidBooking();
  await openAs(page, 'SUPER_ADMIN');
  for (const path of lists) {
    await open(page, path);
    const card = page.locator('tbody tr[data-index="0"]');
    await expect(card.locator('td[class*=title]'), path).not.toBeEmpty();
    const { height, cells } = await card.evaluate((one) => ({
      height: one.getBoundingClientRect().height,
      cells: one.querySelectorAll('td').length,
    }));
    expect(height, `a card of ${path}`).toBeLessThanOrEqual(84);
    expect(cells, `cells of ${path}`).toBeLessThanOrEqual(5);
  }
});

/** Forms by the page that they are on, and what opens each. */
const forms = [
  ['/buses', 'portal.add', 'portal.new.buses'],
  ['/hotels', 'portal.add', 'portal.new.hotels'],
  ['/rest-stops', 'portal.add', 'portal.new.rest-stops'],
  ['/trips', 'portal.add', 'portal.new.trips'],
  ['/campaigns', 'portal.add', 'portal.new.campaigns'],
  ['/users', 'user.invite', 'user.invite'],
  ['/providers', 'provider.new', 'provider.new'],
] as const;

test(
  'forms are sent from where they are, and name their own fields',
  onTelephones,
  async ({ page, t, look, complaints }) => {
    test.setTimeout(180_000);
    complaints.expected.add(422);
    await openAs(page, 'SUPER_ADMIN');
    // Everything that is sent is refused by the names that the API has.
    await page.route('**/api/v1/**', async (route) => {
      if (route.request().method() !== 'POST' || route.request().url().includes('/auth/')) return route.fallback();
      const flat = (body: object, before = ''): string[] =>
        Object.entries(body).flatMap(([name, value]) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? flat(value as object, `${before}${name}.`)
            : [`${before}${name}`],
        );
      const names = flat((route.request().postDataJSON() as object | null) ?? {});
      await route.fulfill({
        status: 422,
        json: {
          error: {
            code: 'VALIDATION_FAILED',
            message: 'Refused.',
            details: Object.fromEntries([...names, 'not_a_field'].map((name) => [name, ['is wrong']])),
          },
        },
      });
    });
    for (const [path, opener, title] of forms) {
      await open(page, path);
      await page
        .getByRole('main')
        .getByRole('button', { name: t(opener), exact: true })
        .click();
      const form = dialog(page, t(title));
      const submit = form.locator('[type=submit]');
      await expect(submit, `${path}: the button`).toBeInViewport({ ratio: 1 });
      const { width, height } = (await form.boundingBox()) ?? { width: 0, height: 0 };
      expect([width, height], path).toEqual([look.width, page.viewportSize()?.height]);
      await expectAccessible(page, `${path}: a new one`);

      // What is missing is said in the page's language, at the field and by its label.
      await submit.click();
      const invalid = form.locator('[aria-invalid=true]');
      await expect(invalid.first(), path).toBeFocused();
      await expect(form.getByText(t('form.required')).first(), path).toBeVisible();
      await expect(form.getByRole('alert'), path).toContainText(t('form.check'));
      await expect(submit, `${path}: the button after a refusal`).toBeInViewport({ ratio: 1 });

      for (const input of await form.locator('input[required]:not([type=radio])').all()) {
        const type = (await input.getAttribute('type')) ?? 'text';
        if ((await input.inputValue()) !== '') continue;
        if ((await input.getAttribute('aria-haspopup')) === 'listbox') {
          await input.click();
          await page.getByRole('option').first().click();
        } else await input.fill(type === 'date' ? '2027-01-02' : type === 'datetime-local' ? '2027-01-02T08:30' : '12');
      }
      for (const email of await form.locator('input[type=email]').all()) await email.fill('a@rihla.test');
      await submit.click();
      const alert = form.getByRole('alert');
      await expect(alert, path).toContainText('is wrong');
      const said = await alert.innerText();
      expect(said, `${path}: names of the API`).not.toMatch(/\b[a-z]+_[a-z_]+\b|\b[a-z]+\.[a-z]+\b|not_a_field/);
      await expect(invalid.first(), path).toBeFocused();
      await expect(submit, `${path}: the button after the API's refusal`).toBeInViewport({ ratio: 1 });
      await expectAccessible(page, `${path}: refused`);
      // The summary leads to the field.
      await alert.getByRole('button').last().click();
      await expect(invalid.last(), path).toBeFocused();
      await form.getByRole('button', { name: t('action.cancel') }).click();
    }
  },
);

test('the company reads who travels, by name, with seats and a number to call', async ({ page, t }) => {
  const trip = await newTrip();
  const [booking, unpaid] = [await paidBooking({ trip, seats: 2 }), await newBooking({ trip })];
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  await row(page, trip.title).click();
  const people = dialog(page, trip.title).getByRole('region', { name: t('portal.bookings') });
  await expect(people).toContainText(`${t('count.bookings', { count: 1 })} · ${t('count.seats', { count: 2 })}`);
  await expect(people).toContainText(booking.booking_number);
  await expect(people).not.toContainText(unpaid.booking_number);
  await expect(people.getByRole('link', { name: booking.contact.phone })).toHaveAttribute(
    'href',
    `tel:${booking.contact.phone}`,
  );
  await field(people, t('field.status')).click();
  await page.getByRole('option', { name: t('portal.allStates') }).click();
  await expect(people.getByRole('listitem').filter({ hasText: 'RB-' })).toHaveCount(2);
  // Who travels comes first.
  await expect(people.getByRole('listitem').first()).toContainText(booking.booking_number);
  await expectAccessible(page, 'who travels');
});
