import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, openAs, signInAs, test } from './fixtures';
import { address, Caller, newStaff, paidBooking, password } from './service';

/** Serves a page at another origin of this machine, for as long as `visit` takes. */
async function elsewhere(html: string, visit: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await visit(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

test('a page of another origin can neither act nor read in the session', async ({ browser, look }) => {
  const booking = await paidBooking();
  const refund = `${address}/api/v1/admin/bookings/${booking.id}/refund`;
  const context = await browser.newContext({ baseURL: address });
  const victim = await context.newPage();
  await victim.addInitScript((language) => {
    if (location.protocol.startsWith('http')) localStorage.setItem('rihla.language', language);
  }, look.language);
  await signInAs(victim, 'FINANCE_ADMIN');

  const form = `<form method="post" enctype="text/plain" action="${refund}">
    <input name='{"refund_type":"FULL","reason":"' value='"}'><button>Win</button></form>`;
  await elsewhere(`<!doctype html><title>Win</title>${form}`, async (origin) => {
    const hostile = await context.newPage();
    await hostile.goto(origin);

    // 127.0.0.1 with another port is the same site: the cookies go with its requests, and are of no use there.
    const attempts = await hostile.evaluate(
      async ([api, order]) => {
        const attempt = async (url: string, init: RequestInit) => {
          try {
            const response = await fetch(url, { credentials: 'include', ...init });
            return `${response.type} ${response.status} ${(await response.text()).length}`;
          } catch {
            return 'stopped';
          }
        };
        const body = JSON.stringify({ refund_type: 'FULL', reason: 'hostile' });
        return [
          await attempt(`${api}/api/v1/me`, {}),
          await attempt(`${api}/api/v1/me`, { mode: 'no-cors' }),
          await attempt(order, { method: 'POST', body, mode: 'no-cors' }),
          await attempt(order, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
          await attempt(order, {
            method: 'POST',
            body,
            headers: { 'Content-Type': 'application/json', 'X-Session': 'cookie' },
          }),
          await attempt(`${api}/api/v1/auth/refresh`, { method: 'POST', body: '{}', mode: 'no-cors' }),
        ];
      },
      [address, refund] as const,
    );
    for (const attempt of attempts) expect(attempt).toMatch(/^(stopped|opaque 0 0|cors 40[13] \d+)$/);

    const [posted] = await Promise.all([
      hostile.waitForResponse((response) => response.url() === refund),
      hostile.getByRole('button', { name: 'Win' }).click(),
    ]);
    expect([401, 403]).toContain(posted.status());

    // Nor does the console let itself be shown inside of another page.
    await hostile.goto(origin);
    await hostile.evaluate((api) => {
      const frame = document.createElement('iframe');
      frame.src = `${api}/console/`;
      document.body.append(frame);
    }, address);
    await expect.poll(() => hostile.frames().map((frame) => frame.url())).toContain('chrome-error://chromewebdata/');
  });

  const finance = await Caller.as('FINANCE_ADMIN');
  const { data } = await finance.get<{ data: unknown[] }>(`/api/v1/admin/refunds?booking_id=${booking.id}`);
  expect(data).toEqual([]);
  // The session itself is none the worse for it.
  await victim.reload();
  await expect(victim).not.toHaveURL(/sign-in/);
  await context.close();
});

test('no script of the page can read the session', async ({ page, context }) => {
  await signInAs(page, 'FINANCE_ADMIN');
  const session = (await context.cookies()).filter(({ name }) => name.startsWith('__Host-'));
  expect(session.map(({ name }) => name).sort()).toEqual(['__Host-rihla_access', '__Host-rihla_refresh']);
  for (const cookie of session)
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Strict', path: '/' });
  const seen = await page.evaluate(() => [
    document.cookie,
    JSON.stringify(localStorage),
    JSON.stringify(sessionStorage),
  ]);
  for (const { value } of session) for (const text of seen) expect(text).not.toContain(value);
});

for (const [what, end] of [
  ['another role', { path: '', method: 'patch', body: { role: 'SUPPORT_AGENT' } }],
  ['a lock', { path: '/lock', method: 'post', body: {} }],
] as const) {
  test(`${what} ends the session in an open tab at once`, async ({ page, t, complaints }) => {
    // What the tab asks for afterwards, and signing in to a locked account.
    for (const status of [403, 423, 429]) complaints.expected.add(status);
    const account = await newStaff('FINANCE_ADMIN');
    await openAs(page, account, '/ledger');
    await expect(page.getByRole('heading', { name: t('nav.ledger') })).toBeVisible();

    const admin = await Caller.as('SUPER_ADMIN');
    await admin[end.method](`/api/v1/admin/users/${account.id}${end.path}`, end.body);

    await page.getByRole('button', { name: t('list.refresh') }).click();
    await expect(page).toHaveURL(/sign-in\?back=%2Fledger/);
    await expect(page.getByRole('heading', { name: t('signIn.title') })).toBeVisible();
    expect(await page.locator('tbody').count()).toBe(0);

    await page.locator('input[name=email]').fill(account.email);
    await page.locator('input[name=password]').fill(password);
    await page.getByRole('button', { name: t('signIn.go') }).click();
    if (end.path === '/lock') await expect(page.getByRole('alert')).toBeVisible();
    else await expect(page).toHaveURL(/\/ledger/);
  });
}

test('what is handed out has no source map and no secret', () => {
  const built = new URL('../built/', import.meta.url);
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.gz'));
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((name) => name.includes('.map'))).toEqual([]);
  const secret = new RegExp(
    [
      'sourceMappingURL=',
      'rihla-dev-password',
      '-----BEGIN [A-Z ]*PRIVATE KEY',
      'eyJ[A-Za-z0-9_-]{10,}\\.[A-Za-z0-9_-]{10,}\\.',
      'postgres(ql)?://',
      'whsec_',
      'sk_(live|test)_',
      'AKIA[0-9A-Z]{16}',
      '/(home|root|Users|tmp)/[a-z]',
    ].join('|'),
  );
  for (const name of files) {
    const [found] = secret.exec(gunzipSync(readFileSync(new URL(name, built))).toString()) ?? [];
    expect(found, name).toBeUndefined();
  }
});
