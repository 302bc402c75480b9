import {
  allEvents,
  choose,
  dialog,
  expect,
  expectAccessible,
  field,
  open,
  openAs,
  row,
  settled,
  test,
} from './fixtures';
import { Caller, day, newBooking, newTrip, only, paidBooking, type Schemas } from './service';

/** As the console writes amounts, in both languages. */
const amount = (value: number) => value.toLocaleString('en', { minimumFractionDigits: 2 });

test('a payment is found by the telephone number of its booking', async ({ page, t }) => {
  const booking = await paidBooking();
  await openAs(page, 'SUPPORT_AGENT', '/payments');
  // As people say it: the country's own way, with a space.
  const said = booking.contact.phone.replace('+9665', '05').replace(/^(...)/, '$1 ');
  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(said);
  await expect(page).toHaveURL(/search=/);
  const found = row(page, booking.booking_number);
  await expect(found).toBeVisible();
  await expect(page.getByText(t('list.shown', { shown: 1, total: 1 }))).toBeVisible();
  await found.click();
  await expect(page).toHaveURL(/\/payments\/[0-9a-f-]{36}$/);
  await expect(page.getByText(booking.booking_number).first()).toBeVisible();
  await expect(page.getByRole('heading', { name: t('timeline.title') })).toBeVisible();
});

test('a part is refunded by its quote, and a second person approves it', async ({ page, other, t }) => {
  const booking = await paidBooking({ seats: 6 });
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('refund.start'), exact: true }).click();
  const form = dialog(page, t('refund.startOf', { number: booking.booking_number }));
  // The quote: all 6,900.00 are left.
  await expect(form.getByText('6,900.00').first()).toBeVisible();
  await choose(form, t('field.type'), t('enum.PARTIAL'));
  // As it is copied in Arabic.
  await field(form, t('field.amount')).fill('\u200fر.س. ٥٬٥٠٠٫٥٠');
  await field(form, t('field.reason')).fill('Five of six do not travel');
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();

  const finance = await Caller.as('FINANCE_ADMIN');
  const path = `/api/v1/admin/refunds?booking_id=${booking.id}`;
  const ordered = await only<Schemas['Refund']>(finance, path);
  expect(ordered).toMatchObject({ status: 'PENDING', needs_approval: true, amount: 5500.5, refund_type: 'PARTIAL' });

  // Who has ordered it cannot approve it, and the page says so.
  await open(page, `/refunds?booking_id=${booking.id}`);
  await row(page, booking.booking_number).click();
  await expect(page.getByText(t('refund.own'))).toBeVisible();
  await expect(page.getByRole('dialog').getByRole('button', { name: t('refund.approve') })).toBeDisabled();

  await openAs(other, 'ADMIN', `/refunds?booking_id=${booking.id}`);
  await row(other, booking.booking_number).click();
  await other
    .getByRole('dialog')
    .getByRole('button', { name: t('refund.approve') })
    .click();
  const approve = other.getByRole('dialog', { name: t('refund.approve'), exact: true });
  await field(approve, t('field.note')).fill('Seen the cancellation');
  await approve.locator('[type=submit]').click();
  await expect(approve).toBeHidden();
  await expect
    .poll(async () => (await only<Schemas['Refund']>(finance, path)).status, { timeout: 30_000 })
    .toBe('SUCCEEDED');
});

test('a refund whose answer is lost is sent again under its key, and made once', async ({ page, t, complaints }) => {
  const booking = await paidBooking();
  await openAs(page, 'FINANCE_ADMIN', `/bookings/${booking.id}`);
  const keys: (string | undefined)[] = [];
  const bodies: (string | null)[] = [];
  complaints.expected.add(429);
  // What is left to refund is no longer what was shown, once the first try was carried out.
  complaints.expected.add(409);
  await page.route('**/api/v1/admin/bookings/*/refund', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    bodies.push(route.request().postData());
    if (keys.length === 1) {
      await route.fetch();
      await route.abort();
    } else if (keys.length === 2) {
      // Says nothing about the first try.
      await route.fulfill({ status: 429, json: { error: { code: 'RATE_LIMITED', message: 'Too many requests.' } } });
    } else await route.continue();
  });
  await page.getByRole('button', { name: t('refund.start'), exact: true }).click();
  const form = dialog(page, t('refund.startOf', { number: booking.booking_number }));
  await choose(form, t('field.type'), t('enum.FULL'));
  await form.locator('[type=submit]').click();
  await expect(form.getByText(t('form.unknown'))).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(field(form, t('field.reason'))).toBeDisabled();
  // The preview is read again, and there is nothing left for one: what is sent stays as it was.
  const anew = page.waitForResponse((response) => response.url().includes('refund-preview'), { timeout: 45_000 });
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  expect((await anew).status()).toBe(409);
  await form.locator('[type=submit]').click();
  await expect(form.getByRole('alert').filter({ hasText: 'Too many requests.' })).toBeVisible();
  await expect(field(form, t('field.reason'))).toBeDisabled();
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();

  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(new Set(bodies).size).toBe(1);
  const finance = await Caller.as('FINANCE_ADMIN');
  const refund = await only<Schemas['Refund']>(finance, `/api/v1/admin/refunds?booking_id=${booking.id}`);
  expect(refund.amount).toBe(booking.amount);
});

test('lines of a company are marked as transferred, and one is taken back by another person', async ({
  page,
  other,
  t,
}) => {
  const trip = await newTrip();
  const bookings = [await paidBooking({ trip }), await paidBooking({ trip })] as const;
  await openAs(page, 'FINANCE_ADMIN', `/ledger?search=${encodeURIComponent(trip.title)}`);
  await expect(row(page, bookings[1].booking_number)).toBeVisible();
  for (const { booking_number } of bookings)
    await row(page, booking_number)
      .getByRole('checkbox', { name: t('list.select') })
      .check();
  await expectAccessible(page, 'lines are selected');
  await page.getByRole('button', { name: t('ledger.mark', { count: 2 }) }).click();
  const form = dialog(page, t('ledger.mark', { count: 2 }));
  const reference = `BANK-${Date.now()}`;
  await field(form, t('field.payoutReference')).fill(reference);
  await field(form, t('field.payoutDate')).fill(day(0));
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();

  const finance = await Caller.as('FINANCE_ADMIN');
  const lines = await finance.get<{ data: Schemas['FinancialRecord'][] }>(
    `/api/v1/admin/financial-records?search=${reference}`,
  );
  expect(lines.data.map(({ balance_status }) => balance_status)).toEqual(['TRANSFERRED', 'TRANSFERRED']);

  await openAs(other, 'ADMIN', `/ledger?booking_id=${bookings[0].id}`);
  await row(other, bookings[0].booking_number).click();
  await other
    .getByRole('dialog')
    .getByRole('button', { name: t('ledger.revert') })
    .click();
  const revert = dialog(other, t('ledger.revert'));
  await field(revert, t('field.reason')).fill('The bank has sent it back');
  await revert.getByRole('button', { name: t('ledger.revert') }).click();
  await expect(revert).toBeHidden();
  const line = await only<Schemas['FinancialRecord']>(
    finance,
    `/api/v1/admin/financial-records?booking_id=${bookings[0].id}`,
  );
  expect(line.balance_status).toBe('IN_CURRENT_BALANCE');
});

test('a company is paid all that it is owed, from the list of balances', async ({ page, t }) => {
  const booking = await paidBooking();
  const finance = await Caller.as('FINANCE_ADMIN');
  const path = `/api/v1/admin/financial-records?booking_id=${booking.id}`;
  const line = await only<Schemas['FinancialRecord']>(finance, path);

  await openAs(page, 'FINANCE_ADMIN', '/ledger');
  await page.getByRole('button', { name: t('balance.all') }).click();
  await dialog(page, t('balance.all')).getByRole('link', { name: line.provider_name }).click();
  await expect(page).toHaveURL(new RegExp(`provider_id=${line.provider_id}&balance_status=IN_CURRENT_BALANCE`));
  await settled(page);

  // What all of them come to is there before anything is chosen, and is what is then marked.
  const { data: totals } = await finance.get<{ data: Schemas['FinancialRecordTotals'] }>(
    `/api/v1/admin/financial-records/totals?provider_id=${line.provider_id}&balance_status=IN_CURRENT_BALANCE`,
  );
  const { count, net_amount } = totals.in_current_balance;
  await expect(page.getByRole('region', { name: t('ledger.found') })).toContainText(amount(net_amount));
  await page.getByRole('button', { name: t('ledger.selectFound', { count }) }).click();
  await expect(page.getByRole('region', { name: t('ledger.selected') })).toContainText(amount(net_amount));
  await page.getByRole('button', { name: t('ledger.mark', { count }) }).click();
  const form = dialog(page, t('ledger.mark', { count }));
  await expect(form).toContainText(amount(net_amount));
  const reference = `BANK-${Date.now()}`;
  await field(form, t('field.payoutReference')).fill(reference);
  await field(form, t('field.payoutDate')).fill(day(0));
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden({ timeout: 60_000 });
  await expect(page.getByText(t('list.empty'))).toBeVisible();

  const marked = await only<Schemas['FinancialRecord']>(finance, path);
  expect(marked).toMatchObject({ balance_status: 'TRANSFERRED', payout_reference: reference });
  const after = await finance.get<{ data: Schemas['FinancialRecordTotals'] }>(
    `/api/v1/admin/financial-records/totals?search=${reference}`,
  );
  expect(after.data.transferred).toMatchObject({ count, net_amount });
});

test('the customer of an unpaid booking gets the checkout link once more', async ({ page, t, complaints }) => {
  const booking = await newBooking({});
  await openAs(page, 'SUPPORT_AGENT', `/bookings/${booking.id}`);
  await page.getByRole('button', { name: t('checkout.send') }).click();
  const form = dialog(page, t('checkout.sendOf', { number: booking.booking_number }));
  await expect(form).toContainText(booking.contact.phone);
  await form.getByRole('button', { name: t('checkout.go') }).click();
  await expect(form).toBeHidden();
  // To the customer, masked, and into the booking's history.
  await expect(page.getByText('c***@rihla.test')).toBeVisible();
  await allEvents(page, t).click();
  await expect(page.getByText(t('enum.CHECKOUT_LINK')).first()).toBeVisible();

  // Again at once is refused, with the reason.
  complaints.expected.add(429);
  await page.getByRole('button', { name: t('checkout.send') }).click();
  await form.getByRole('button', { name: t('checkout.go') }).click();
  await expect(form.getByRole('alert')).toContainText('RATE_LIMITED');

  // An account may have a few unpaid bookings, and this test runs in several looks.
  await (await Caller.as('END_USER')).post(`/api/v1/bookings/${booking.id}/cancel`);
});

test('a manual payout is confirmed by another person', async ({ page, t }) => {
  const booking = await paidBooking({ method: 'bill_payment' });
  const finance = await Caller.as('FINANCE_ADMIN');
  await finance.post(`/api/v1/admin/bookings/${booking.id}/refund`, { refund_type: 'FULL', reason: 'Ill' });

  await openAs(page, 'ADMIN', `/refunds?booking_id=${booking.id}`);
  await row(page, booking.booking_number).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: t('refund.confirmPayout') })
    .click();
  const form = dialog(page, t('refund.confirmPayout'));
  const reference = `SARIE-${Date.now()}`;
  await field(form, t('field.payoutReference')).fill(reference);
  await form.locator('[type=submit]').click();
  await expect(form).toBeHidden();
  const refund = () => only<Schemas['Refund']>(finance, `/api/v1/admin/refunds?booking_id=${booking.id}`);
  await expect.poll(async () => (await refund()).status, { timeout: 30_000 }).toBe('SUCCEEDED');
  expect((await refund()).payout_reference).toBe(reference);
});

test('the ledger is exported', async ({ page, t }) => {
  const booking = await paidBooking();
  await openAs(page, 'FINANCE_ADMIN', `/ledger?booking_id=${booking.id}`);
  await expect(row(page, booking.booking_number)).toBeVisible();
  for (const format of ['csv', 'xlsx'] as const) {
    await page.getByRole('button', { name: t('export.title') }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: t(`export.${format}`) }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${format}$`));
    const stream = await file.createReadStream();
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    const content = Buffer.concat(parts);
    if (format === 'csv') expect(content.toString().trimEnd().split('\n')).toHaveLength(2);
    else expect(content.subarray(0, 2).toString()).toBe('PK');
    await expect(page.getByText(t('export.done')).first()).toBeVisible();
  }

  // Who has exported what stays to be seen.
  await page.getByRole('button', { name: t('export.title') }).click();
  await page.getByRole('menuitem', { name: t('export.history') }).click();
  const newest = dialog(page, t('export.history')).getByRole('listitem').first();
  await expect(newest).toContainText('XLSX');
  await expect(newest).toContainText(`booking_id=${booking.id}`);
  const { data } = await (
    await Caller.as('FINANCE_ADMIN')
  ).get<{ data: Schemas['Export'][] }>('/api/v1/admin/exports?per_page=10');
  expect(data[0]).toMatchObject({ status: 'COMPLETED', rows: 1 });
});
