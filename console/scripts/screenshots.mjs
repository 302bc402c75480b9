// Makes docs/console/screenshots: every page in both languages, on a desktop and on a telephone, as small WebP files.
//
//   RIHLA_URL=http://127.0.0.1:8080 npm run screenshots      while `go run . demo` serves
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const address = process.env.RIHLA_URL ?? 'http://127.0.0.1:8080';
const into = fileURLToPath(new URL('../../docs/console/screenshots', import.meta.url));
const most = 60_000;

/** Pages by the role that they are shown to; with `open` the first row of a list is opened, with `first` the first link of the page. */
const pages = {
  '': [
    ['sign-in', '/sign-in'],
    ['forgot-password', '/forgot-password'],
    ['new-password', '/reset-password#token'],
    ['invitation', '/invitation#token'],
    ['verify-email', '/verify-email#token'],
  ],
  super_admin: [
    ['overview', '/'],
    ['bookings', '/bookings'],
    ['booking', '/bookings?status=CONFIRMED', 'open'],
    ['cancellation-requests', '/cancellation-requests?status='],
    ['cancellation-request', '/cancellation-requests?status=REQUESTED', 'open'],
    ['trip-cancellations', '/trip-cancellations'],
    ['payments', '/payments'],
    ['payment', '/payments?status=PAID', 'open'],
    ['refunds', '/refunds'],
    ['refund', '/refunds', 'open'],
    ['ledger', '/ledger'],
    ['ledger-line', '/ledger', 'open'],
    ['incidents', '/incidents?status='],
    ['incident', '/incidents?status=', 'open'],
    ['providers', '/providers'],
    ['provider', '/providers?search=Demo', 'open'],
    ['users', '/users'],
    ['user', '/users?search=finance_admin', 'open'],
    ['audit', '/audit'],
    ['audit-entry', '/audit', 'open'],
    ['security', '/security'],
  ],
  provider_admin: [
    ['company-overview', '/'],
    ['trips', '/trips'],
    ['trip', '/trips', 'open'],
    ['trip-called-off', '/trips?status=CANCELLED', 'open'],
    ['check-in', '/check-in'],
    ['check-in-trip', '/check-in', 'first'],
    ['buses', '/buses'],
    ['bus', '/buses', 'open'],
    ['hotels', '/hotels'],
    ['rest-stops', '/rest-stops'],
    ['campaigns', '/campaigns'],
    ['campaign', '/campaigns', 'open'],
    ['company-ledger', '/company-ledger'],
    ['company', '/company'],
  ],
};

async function settled(page) {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await page.evaluate(() => document.fonts.ready);
}

async function signIn(page, role) {
  await page.goto('/console/sign-in');
  await page.locator('input[name=email]').fill(`${role}@rihla.test`);
  await page.locator('input[name=password]').fill('rihla-dev-password');
  await page.locator('button[type=submit]').click();
  await page.waitForURL((url) => !url.pathname.includes('sign-in'));
}

/** WebP, which Playwright does not write by itself; coarser until it is small enough. */
async function save(page, name) {
  const session = await page.context().newCDPSession(page);
  for (const quality of [70, 50, 30, 15]) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length > most && quality > 15) continue;
    await writeFile(`${into}/${name}.webp`, bytes);
    if ((await stat(`${into}/${name}.webp`)).size > most) throw new Error(`${name} is larger than ${most} bytes`);
    break;
  }
  await session.detach();
}

async function shoot(browser, role, language, width) {
  const context = await browser.newContext({
    baseURL: address,
    viewport: { width, height: width < 600 ? 780 : 800 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await context.addInitScript((chosen) => localStorage.setItem('rihla.language', chosen), language);
  const page = await context.newPage();
  if (role) await signIn(page, role);
  for (const [name, path, open] of pages[role]) {
    await page.goto(`/console${path}`);
    await settled(page);
    if (open === 'first') {
      await page.locator('main a').first().click();
      await page.waitForURL((url) => !url.pathname.endsWith(path));
      await settled(page);
    } else if (open) {
      await page.locator('tbody tr[data-index="0"]').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').or(page.locator('main h2')).first().waitFor();
      await settled(page);
    }
    // Drawers and lists come in by a short transition.
    await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => null))));
    await save(page, `${name}.${language}.${width}`);
  }
  await context.close();
}

await rm(into, { recursive: true, force: true });
await mkdir(into, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const role of Object.keys(pages))
  for (const language of ['ar', 'en']) for (const width of [1280, 390]) await shoot(browser, role, language, width);
await browser.close();

const names = Object.values(pages).flatMap((of) => of.map(([name]) => name));
const cell = (name, language, width) => `![${name}.${language}.${width}](${name}.${language}.${width}.webp)`;
await writeFile(
  `${into}/README.md`,
  `# Pages of the console

Made by \`npm run screenshots\` in \`console/\` from \`go run . demo\`: Arabic and English, 1280 and 390 px.

${names
  .map(
    (name) => `## ${name}

${cell(name, 'ar', 1280)}
${cell(name, 'en', 1280)}
${cell(name, 'ar', 390)}
${cell(name, 'en', 390)}
`,
  )
  .join('\n')}`,
);
