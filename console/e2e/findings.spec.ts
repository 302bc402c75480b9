import {
  allEvents,
  choose,
  dialog,
  expect,
  expectAccessible,
  field,
  inEveryLook,
  open,
  openAs,
  row,
  settled,
  signInAs,
  test,
} from './fixtures';
import { Caller, day, eventually, fault, newBooking, newTrip, only, paidBooking, press, type Schemas } from './service';

/** A refund of 6,000.00 and more, which waits for a second person. */
async function waiting() {
  const booking = await paidBooking({ seats: 6 });
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/refund`, {
    refund_type: 'FULL',
    reason: 'The group is ill',
  });
  const refund = await only<Schemas['Refund']>(finance, `/api/v1/admin/refunds?booking_id=${booking.id}`);
  return { booking, refund };
}

/** The edge of an element's text at which numbers end. */
const rightOf = (element: Element) => {
  const range = document.createRange();
  range.selectNodeContents(element.querySelector('bdi') ?? element);
  return Math.round(range.getBoundingClientRect().right);
};

test('an approval that came too late says so, and who decided', async ({ page, t, complaints }) => {
  complaints.expected.add(409);
  const { booking, refund } = await waiting();
  await openAs(page, 'ADMIN', '/refunds?needs_approval=true');
  await row(page, booking.booking_number).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('refund.approve'), exact: true })
    .click();
  const form = page.getByRole('dialog', { name: t('refund.approve'), exact: true });
  // The second person sees what the first one saw.
  await expect(form).toContainText(booking.contact.name);
  await expect(form).toContainText('The group is ill');
  await expect(form.getByRole('region', { name: t('preview.title') })).toContainText('6,900.00');
  await expectAccessible(page, 'an approval with its preview');

  const other = await Caller.as('SUPER_ADMIN');
  await other.post(`/api/v1/admin/refunds/${refund.id}/reject`, { note: 'Not the customer' });
  await form.locator('[type=submit]').click();
  await expect(page.getByRole('alert').filter({ hasText: t('enum.REJECTED') })).toBeVisible();
  await expect(form).toBeHidden();
  // What it was about stays in sight, as it is now.
  await expect(page.getByRole('dialog').getByText('Not the customer')).toBeVisible();
});

test('who may approve sees in the navigation that a refund waits', inEveryLook, async ({ page, t, look }) => {
  await waiting();
  await openAs(page, 'ADMIN', '/bookings');
  const admin = await Caller.as('ADMIN');
  const { meta } = await admin.get<{ meta: { total: number } }>('/api/v1/admin/refunds?needs_approval=true');
  const trips = await admin.get<{ meta: { total: number } }>('/api/v1/admin/trip-cancellations?needs_approval=true');
  const all = meta.total + trips.meta.total;
  if (look.width < 768) await page.getByRole('button', { name: t('app.menuWaiting', { count: all }) }).click();
  const link = page
    .getByRole('navigation', { name: t('app.menu') })
    .getByRole('link', { name: `${t('nav.refunds')} ${t('app.waiting', { count: meta.total })}` });
  await expect(link).toBeVisible();
  await expectAccessible(page, 'the navigation with what waits');
  await link.click();
  await expect(page).toHaveURL(/\/refunds$/);
});

test('a preview shows all of its amounts', inEveryLook, async ({ page, t, look }) => {
  const booking = await paidBooking();
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await allEvents(page, t).click();
  const history = page.locator('li[data-event=RECORD_WRITTEN]');
  await expect(history).toContainText('1,150.00');
  // One currency, written one way.
  expect(await history.innerText()).toContain(look.language === 'ar' ? 'ر.س' : 'SAR');
  await page.getByRole('button', { name: t('refund.start'), exact: true }).click();
  const form = dialog(page, t('refund.startOf', { number: booking.booking_number }));
  const lines = form.getByRole('table').first();
  await expect(lines).toContainText('1,035.00');
  const over = await lines.evaluate((table) => table.scrollWidth - (table.parentElement?.clientWidth ?? 0));
  expect(over, 'the lines are cut').toBeLessThanOrEqual(0);
  const edges = await lines.locator('td[data-align=end] > span').evaluateAll((amounts) =>
    amounts.map((amount) => {
      const range = document.createRange();
      range.selectNodeContents(amount);
      return Math.round(range.getBoundingClientRect().right);
    }),
  );
  if (look.width < 768) expect(new Set(edges).size, `amounts end at ${edges.join(', ')}`).toBe(1);
  await expectAccessible(page, 'a refund with its preview');
});

test('whose session has ended is told so', inEveryLook, async ({ page, t, context }) => {
  await signInAs(page, 'SUPPORT_AGENT', '/bookings');
  // Nothing of the page may notice it first: what is said is said once.
  await page.goto('about:blank');
  await context.clearCookies();
  await page.goto('/console/bookings');
  await expect(page.getByText(t('signIn.ended'))).toBeVisible();
  // Once: who comes to sign in is no one who was thrown out.
  await page.goto('/console/bookings');
  await expect(page).toHaveURL(/sign-in/);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByText(t('signIn.ended'))).toHaveCount(0);
});

test('a session that ends while a page is open is said by the next request', async ({ page, t, context }) => {
  await signInAs(page, 'SUPPORT_AGENT', '/bookings');
  await context.clearCookies();
  await page.evaluate(() => {
    history.pushState(null, '', '/console/payments');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await expect(page.getByText(t('signIn.ended'))).toBeVisible();
  expect(new URL(page.url()).searchParams.get('back')).toMatch(/^\/(payments|bookings)/);
});

test('a payout asks for reference and date, and about a reference that is another payout’s', async ({
  page,
  t,
  complaints,
}) => {
  complaints.expected.add(409);
  const trip = await newTrip();
  const [first, second] = [await paidBooking({ trip }), await paidBooking({ trip })];
  const reference = `USED-${Date.now()}`;
  const finance = await Caller.as('FINANCE_ADMIN');
  const line = async (booking: Schemas['Booking']) =>
    only<Schemas['FinancialRecord']>(finance, `/api/v1/admin/financial-records?booking_id=${booking.id}`);
  await finance.post(`/api/v1/admin/financial-records/${(await line(first)).id}/mark-transferred`, {
    payout_reference: reference,
  });

  await openAs(page, 'FINANCE_ADMIN', `/ledger?booking_id=${second.id}`);
  await row(page, second.booking_number)
    .getByRole('checkbox', { name: t('list.select') })
    .check();
  await page.getByRole('button', { name: t('ledger.mark', { count: 1 }) }).click();
  const form = dialog(page, t('ledger.mark', { count: 1 }));
  await expect(field(form, t('field.payoutDate'))).toHaveValue(day(0));
  await form.locator('[type=submit]').click();
  await expect(field(form, t('field.payoutReference'))).toBeFocused();
  expect((await line(second)).balance_status).toBe('IN_CURRENT_BALANCE');

  await field(form, t('field.payoutReference')).fill(reference);
  await form.locator('[type=submit]').click();
  await expect(form.getByRole('alert')).toContainText((await line(first)).provider_name);
  expect((await line(second)).balance_status).toBe('IN_CURRENT_BALANCE');
  await expect(form.getByRole('button', { name: t('reference.useAgain') })).toBeVisible();
  await form.getByRole('button', { name: t('reference.useAgain') }).click();
  await expect(form).toBeHidden();
  await expect(page.getByRole('alert').getByRole('button', { name: t('ledger.showMarked') })).toBeVisible();
  expect(await line(second)).toMatchObject({ balance_status: 'TRANSFERRED', payout_reference: reference });

  // Who marked a line cannot take it back, and reads why.
  await open(page, `/ledger?booking_id=${second.id}`);
  await row(page, second.booking_number).click();
  await expect(page.getByText(t('ledger.ownMark'))).toBeVisible();
  await expect(page.getByRole('dialog').getByRole('button', { name: t('ledger.revert') })).toBeDisabled();
});

test('an incident offers its repair with the amount, and says when it is made', async ({ page, t }) => {
  const booking = await newBooking({});
  await fault(booking, 'webhook', 'wrong_amount');
  await press(booking, 'succeed');
  const admin = await Caller.as('ADMIN');
  const found = () =>
    eventually('the incident', async () => {
      const { data } = await admin.get<{ data: Schemas['Incident'][] }>(
        '/api/v1/admin/incidents?kind=AMOUNT_MISMATCH&sort=-created_at',
      );
      return data.find(({ booking_id }) => booking_id === booking.id);
    });
  const incident = await found();
  const taken = incident.repair?.amount.toLocaleString('en', { minimumFractionDigits: 2 }) ?? 'none';

  // The booking's page says what its state does not.
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await expect(page.getByRole('status').filter({ hasText: taken })).toBeVisible();

  await open(page, '/incidents?kind=AMOUNT_MISMATCH');
  await row(page, booking.booking_number).click();
  const drawer = page.getByRole('dialog').first();
  await expect(drawer).not.toContainText('/api/v1');
  await drawer.getByRole('button', { name: taken }).click();
  const form = dialog(page, t('payment.refundLate'));
  await expect(form).toContainText(taken);
  // Beside what was asked for.
  await expect(form).toContainText('1,150.00');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  await expect.poll(async () => (await found()).repair?.state, { timeout: 30_000 }).toBe('DONE');

  await open(page, `/payments/${incident.payment_transaction_id ?? ''}`);
  await expect(page.getByText(t('payment.state.DONE'), { exact: true })).toBeVisible();
  const giveBack = new RegExp(`^${t('payment.giveBack', { amount: '' }).trim()}`);
  await expect(page.getByRole('button', { name: giveBack })).toHaveCount(0);
  await open(page, `/bookings/${booking.id}`);
  await expect(page.getByText(t('payment.open'))).toBeVisible();
  await expect(page.getByRole('button', { name: t('refund.start'), exact: true })).toHaveCount(0);
  await open(page, '/incidents?kind=AMOUNT_MISMATCH');
  await row(page, booking.booking_number).click();
  await expect(page.getByText(t('incident.nothingLeft'))).toBeVisible();
});

test('a part that went back stands in the head of its booking, and who bore it in the preview', async ({ page, t }) => {
  const booking = await paidBooking();
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('refund.start'), exact: true }).click();
  const form = dialog(page, t('refund.startOf', { number: booking.booking_number }));
  await choose(form, t('field.type'), t('enum.PARTIAL'));
  await field(form, t('field.amount')).fill('575');
  await expect(form.getByText(t('preview.paidBy'))).toBeVisible();
  await expect(form.locator('[type=submit]')).toContainText('575.00');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  const head = page.getByRole('heading', { level: 1 });
  await expect(head).toContainText(t('enum.PARTIAL_REFUND'), { timeout: 30_000 });
  await expect(head).toContainText('575.00');
});

test('refunds are found by what people know', async ({ page, t }) => {
  const { booking } = await waiting();
  await openAs(page, 'SUPPORT_AGENT', '/refunds');
  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(booking.contact.name);
  await expect(page).toHaveURL(/search=/);
  await expect(row(page, booking.booking_number)).toBeVisible();
  await expect(page.getByText(t('list.shown', { shown: 1, total: 1 }))).toBeVisible();
});

test('fields, amounts and seats have the direction of the page', inEveryLook, async ({ page, t, look }) => {
  const trip = await newTrip();
  await paidBooking();
  await paidBooking();
  await openAs(page, 'PROVIDER_ADMIN', `/trips?search=${encodeURIComponent(trip.title)}`);
  const search = page.getByRole('main').getByRole('searchbox', { name: t('list.search') });
  expect(await search.evaluate((input) => getComputedStyle(input).direction)).toBe(
    look.language === 'ar' ? 'rtl' : 'ltr',
  );
  await row(page, trip.title).click();
  await expect(dialog(page, trip.title).getByText('20 / 20').first()).toHaveCSS('direction', 'ltr');

  await openAs(page, 'ADMIN', '/payments');
  await expect(row(page, 'RB-').nth(1)).toBeVisible();
  const edges = await page
    .locator('tbody td[data-align=end]')
    .filter({ hasText: '.' })
    .evaluateAll((cells, source) => {
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the function above, in the page
      const edge = (new Function(`return ${source}`) as () => (element: Element) => number)();
      return cells.map(edge);
    }, rightOf.toString());
  expect(new Set(edges).size, `amounts end at ${edges.join(', ')}`).toBe(1);
});

test('a page that the role may not use says so, without a request', async ({ page, t, look }) => {
  await openAs(page, 'SUPPORT_AGENT');
  await page.goto('/console/users');
  await expect(page.getByRole('heading', { name: t('error.noAccess') })).toBeVisible();
  expect(look).toBeTruthy();
});

test('without a connection a list says so', async ({ page, t, context }) => {
  await openAs(page, 'SUPPORT_AGENT', '/refunds');
  await context.setOffline(true);
  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill('nobody');
  await expect(page.getByText(t('error.offline'))).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText(t('error.offline'))).toBeHidden();
});

test('nothing moves when the figures of the overview arrive', inEveryLook, async ({ page }) => {
  await openAs(page, 'FINANCE_ADMIN');
  await page.addInitScript(() => {
    const shifts: number[] = [];
    (window as unknown as { shifts: number[] }).shifts = shifts;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.route('**/api/v1/admin/dashboard', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  await open(page, '/');
  await settled(page);
  await expect(page.locator('canvas')).toBeVisible();
  const sum = await page.evaluate(() =>
    (window as unknown as { shifts: number[] }).shifts.reduce((all, one) => all + one, 0),
  );
  expect(sum).toBeLessThanOrEqual(0.1);
});
