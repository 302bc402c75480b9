import { choose, dialog, expect, field, open, openAs, row, test } from './fixtures';
import { Caller, invite, linkTo, newStaff, only, paidBooking, password, type Schemas } from './service';
import { totp } from './totp';

const arabicDigits = (code: string) => code.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'.charAt(Number(digit)));

test('an invited person chooses a password, enrols a second factor and signs in with a code', async ({
  page,
  t,
  look,
}) => {
  const account = await invite('FINANCE_ADMIN', look.language);
  await page.goto(await linkTo(account.email, 'invitation'));
  await expect(page.getByRole('heading', { name: t('reset.invitationTitle') })).toBeVisible();
  await field(page, t('reset.new')).fill(password);
  await page.getByRole('button', { name: t('reset.go') }).click();
  await expect(page.getByRole('status')).toHaveText(t('reset.done'));

  await openAs(page, account, '/security');
  await page.getByRole('button', { name: t('security.begin') }).click();
  await expect(page.getByRole('img', { name: t('security.qr') })).toBeVisible();
  const secret = await page.locator('bdi', { hasText: /^[A-Z2-7]{32}$/ }).innerText();
  await field(page, t('security.firstCode')).fill(arabicDigits(totp(secret, -1)));
  await page.getByRole('button', { name: t('security.confirm') }).click();
  await expect(page.getByText(t('security.codes'))).toBeVisible();
  const recovery = await page
    .getByRole('listitem')
    .filter({ hasText: /^[0-9A-Z]{4}(-[0-9A-Z]{4})+$/ })
    .allInnerTexts();
  expect(recovery).toHaveLength(10);

  await page.getByRole('button', { name: t('app.account', { name: account.name }) }).click();
  await page.getByRole('menuitem', { name: t('signIn.out') }).click();
  await expect(page).toHaveURL(/sign-in/);

  // With the marks of direction that an address brings along from an Arabic text.
  await field(page, t('field.email')).fill(`\u202a${account.email}\u202c`);
  await field(page, t('signIn.password')).fill(password);
  await page.getByRole('button', { name: t('signIn.go') }).click();
  await expect(page.getByRole('heading', { name: t('signIn.secondStep') })).toBeVisible();

  // The code of the enrolment has counted.
  await field(page, t('signIn.code')).fill(totp(secret, -1));
  await page.getByRole('button', { name: t('signIn.go') }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await field(page, t('signIn.code')).fill(arabicDigits(totp(secret)));
  await page.getByRole('button', { name: t('signIn.go') }).click();
  await expect(page).toHaveURL(/\/console\/?$/);
  await open(page, '/security');
  await expect(page.getByText(t('security.on'))).toBeVisible();
});

test('what moves money asks for a fresh code, and the same request goes on by itself', async ({
  page,
  t,
  complaints,
}) => {
  complaints.expected.add(403);
  const [account, booking] = await Promise.all([newStaff('FINANCE_ADMIN'), paidBooking()]);
  await openAs(page, account, '/security');
  await page.getByRole('button', { name: t('security.begin') }).click();
  const secret = await page.locator('bdi', { hasText: /^[A-Z2-7]{32}$/ }).innerText();
  await field(page, t('security.firstCode')).fill(totp(secret, -1));
  await page.getByRole('button', { name: t('security.confirm') }).click();
  await expect(page.getByText(t('security.codes'))).toBeVisible();

  // That code is fresh for ten minutes: the first answer is what the service gives after them.
  const keys: (string | undefined)[] = [];
  await page.route('**/api/v1/admin/financial-records/mark-transferred', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (keys.length > 1) await route.continue();
    else await route.fulfill({ status: 403, json: { error: { code: 'STEP_UP_REQUIRED', message: 'A fresh code.' } } });
  });
  await open(page, `/ledger?booking_id=${booking.id}`);
  await row(page, booking.booking_number)
    .getByRole('checkbox', { name: t('list.select') })
    .check();
  await page.getByRole('button', { name: t('ledger.mark', { count: 1 }) }).click();
  const form = dialog(page, t('ledger.mark', { count: 1 }));
  await field(form, t('field.payoutReference')).fill(`BANK-${Date.now()}`);
  await form.locator('[type=submit]').click();
  const ask = dialog(page, t('stepUp.title'));
  await field(ask, t('signIn.code')).fill(totp(secret));
  await ask.getByRole('button', { name: t('stepUp.go') }).click();
  await expect(form).toBeHidden();
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  const finance = await Caller.as('FINANCE_ADMIN');
  const line = await only<Schemas['FinancialRecord']>(
    finance,
    `/api/v1/admin/financial-records?booking_id=${booking.id}`,
  );
  expect(line.balance_status).toBe('TRANSFERRED');
});

test('an administrator invites, locks and removes an account', async ({ page, t }) => {
  await openAs(page, 'SUPER_ADMIN', '/users');
  await page.getByRole('button', { name: t('user.invite') }).click();
  const form = dialog(page, t('user.invite'));
  const email = `page-${Date.now()}@rihla.test`;
  await field(form, t('field.name')).fill('Noura Support');
  await field(form, t('field.email')).fill(email);
  await field(form, t('field.phone')).fill('+966512345678');
  await choose(form, t('field.role'), t('role.SUPPORT_AGENT'));
  await form.getByRole('button', { name: t('user.inviteGo') }).click();
  await expect(form).toBeHidden();
  await linkTo(email, 'invitation');

  await page
    .getByRole('main')
    .getByRole('searchbox', { name: t('list.search') })
    .fill(email);
  await row(page, email).click();
  const detail = dialog(page, /Noura Support/);
  await detail.getByRole('button', { name: t('user.action.lock') }).click();
  await dialog(page, t('user.action.lock'))
    .getByRole('button', { name: t('user.action.lock') })
    .click();
  await expect(detail.getByText(t('enum.LOCKED'), { exact: true })).toBeVisible();
  await detail.getByRole('button', { name: t('user.action.remove') }).click();
  await dialog(page, t('user.action.remove'))
    .getByRole('button', { name: t('user.action.remove') })
    .click();
  await expect(row(page, email)).toHaveCount(0);

  // The audit log has it in words, and is filtered by them.
  await open(page, '/audit');
  const filters = page.getByRole('button', { name: t('list.filters', { count: 0 }) });
  if (await filters.isVisible()) await filters.click();
  await choose(page, t('audit.action'), t('auditAction.USER_REMOVED'));
  await expect(row(page, t('auditAction.USER_LOCKED'))).toHaveCount(0);
  await row(page, t('auditAction.USER_REMOVED')).first().click();
  await expect(dialog(page, t('auditAction.USER_REMOVED')).getByText('USER_REMOVED')).toBeVisible();
});
