import { test as base, expect, type BrowserContext, type Cookie, type Locator, type Page } from '@playwright/test';
import axe from 'axe-core';
import type { Look } from './look';
import { address, emailOf, password, releaseUnpaid, type Schemas } from './service';
import { wordsOf, type Text } from './words';

export { expect };

/** What the pages of a test have complained about. At the end of each test there must be nothing. */
export class Complaints {
  readonly found: string[] = [];
  /** Statuses below 500 that the test brings about; without a session the first answers are 401. */
  readonly expected = new Set([401]);
  /** Whether the browser may go to a gateway's page as a whole; nothing is ever read from another host. */
  gateway = false;

  listenTo(page: Page): void {
    page.on('pageerror', (error) => this.found.push(`error: ${String(error)}`));
    page.on('console', (message) => {
      const ours = message.location().url.startsWith(address) || message.location().url === '';
      // Answers that are errors are looked at below, with their status.
      if (ours && message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.found.push(`console: ${message.text()}`);
    });
    page.on('response', (response) => {
      const status = response.status();
      if (response.url().startsWith(address) && status >= 400 && !this.expected.has(status))
        this.found.push(`${status}: ${response.request().method()} ${response.url()}`);
    });
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (!protocol.startsWith('http') || host === new URL(address).host) return;
      const ofGateway = !new URL(page.url()).href.startsWith(address);
      if (this.gateway && (request.isNavigationRequest() || ofGateway)) return;
      this.found.push(`request to ${request.url()}`);
    });
  }
}

/** For tests of what depends on language and width. The others are played in one look, another one with each commit. */
export const inEveryLook = { tag: '@every-look' };

/** For tests of what there is on telephones only: they are played in both languages there, and on no desktop. */
export const onTelephones = { tag: '@telephone' };

interface Fixtures {
  look: Look;
  complaints: Complaints;
  /** A text of the console in the language of the test. */
  t: (name: Text, values?: Record<string, string | number>) => string;
  /** A page of a second person, in a browser of their own. */
  other: Page;
}

const violationsAreErrors = () => {
  document.addEventListener('securitypolicyviolation', (event) => {
    console.error(`Content-Security-Policy: ${event.violatedDirective} ${event.blockedURI}`);
  });
};

export const test = base.extend<Fixtures>({
  look: [{ language: 'en', width: 1280, scheme: 'light' }, { option: true }],
  t: async ({ look }, use) => {
    await use(wordsOf(look.language));
  },
  complaints: [
    async ({ context, look }, use) => {
      const complaints = new Complaints();
      await prepare(context, look, complaints);
      await use(complaints);
      await releaseUnpaid();
      expect(complaints.found, 'what the pages complained about').toEqual([]);
    },
    { auto: true },
  ],
  page: async ({ page, look, complaints }, use) => {
    await show(page, look);
    await use(page);
    // Where the test has ended is looked at like every page.
    if (page.url().startsWith(`${address}/console`) && complaints.found.length === 0) await expectAccessible(page);
    await keepSession(page.context());
  },
  other: async ({ browser, look, complaints }, use) => {
    const context = await browser.newContext({ baseURL: address });
    await prepare(context, look, complaints);
    const page = await context.newPage();
    await show(page, look);
    await use(page);
    await keepSession(context);
    await context.close();
  },
});

async function prepare(context: BrowserContext, { language }: Look, complaints: Complaints): Promise<void> {
  context.on('page', (page) => {
    complaints.listenTo(page);
  });
  await context.addInitScript(violationsAreErrors);
  await context.addInitScript((chosen) => {
    if (location.protocol.startsWith('http')) localStorage.setItem('rihla.language', chosen);
  }, language);
}

async function show(page: Page, { width, scheme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
}

/** Everything on the page is there. The page looks at itself in every frame: what `expect` asks for it sees up to a second late. */
export async function settled(page: Page, titleBefore?: string): Promise<void> {
  const missing = await page.evaluate(
    ({ patience, titleBefore }) =>
      new Promise<string | null>((resolve) => {
        const end = performance.now() + patience;
        const look = () => {
          const heading = document.querySelector('h1')?.checkVisibility() === true;
          const busy = document.querySelector('[aria-busy=true]');
          if (heading && !busy && document.title !== titleBefore) resolve(null);
          else if (performance.now() < end) requestAnimationFrame(look);
          else
            resolve(`heading ${heading}, title ${document.title}, busy ${busy?.outerHTML.slice(0, 200) ?? 'nothing'}`);
        };
        look();
      }),
    { patience: 15_000, titleBefore },
  );
  expect(missing, `${page.url()} does not settle`).toBeNull();
}

/** Shows the page in the scheme. */
export async function inScheme(page: Page, colorScheme: Look['scheme']): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}

/** No rule of axe-core is violated, contrast included, and nothing is wider than the window. */
export async function expectAccessible(page: Page, where = page.url()): Promise<void> {
  // Once for a document: it is half a megabyte.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { run } = (window as unknown as { axe: typeof axe }).axe;
    const { violations } = await run(document, { resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary = '' }) => `${id}: ${failureSummary.replace(/\s+/g, ' ')} ${html.slice(0, 160)}`,
      ),
    );
  });
  // In one line with where: other pages may show only the first line of a failure.
  expect.soft(found, [where, ...found].join(' | ')).toEqual([]);
  const over = await page.evaluate(() =>
    Math.max(
      ...[document.documentElement, ...document.querySelectorAll('main')].map(
        ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
      ),
    ),
  );
  expect.soft(over, `${where} is wider than the window`).toBeLessThanOrEqual(0);
}

/** Signs in at the console's page as one of the users of `rihla dev`, or as the account with the address. */
export async function signInAs(page: Page, who: Schemas['Role'] | { email: string }, path = '/'): Promise<void> {
  const email = typeof who === 'string' ? emailOf(who) : who.email;
  await page.goto(`/console/sign-in?back=${encodeURIComponent(path)}`);
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[type=submit]').click();
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
  await settled(page);
}

/**
 * The cookies of the users' sessions, between tests. A session is in one browser at a time, as its refresh token counts once: who is
 * signed in elsewhere signs in anew.
 */
const sessions = new Map<string, Cookie[]>();
const inUse = new WeakMap<BrowserContext, string>();

const ofSession = ({ name }: { name: string }) => name.startsWith('__Host-rihla_');

async function keepSession(context: BrowserContext): Promise<void> {
  const email = inUse.get(context);
  if (email === undefined) return;
  inUse.delete(context);
  const cookies = (await context.cookies()).filter(ofSession);
  if (cookies.some(({ name }) => name === '__Host-rihla_refresh')) sessions.set(email, cookies);
}

/** Opens a page of the console as one of the users of `rihla dev`, who sign in once for all tests, or as the account with the address. */
export async function openAs(page: Page, who: Schemas['Role'] | { email: string }, path = '/'): Promise<void> {
  if (typeof who !== 'string') {
    await signInAs(page, who, path);
    return;
  }
  const context = page.context();
  const email = emailOf(who);
  await keepSession(context);
  const kept = sessions.get(email);
  sessions.delete(email);
  // Signing in beside a session would end it.
  await context.clearCookies();
  if (kept) {
    await context.addCookies(kept);
    await open(page, path);
  } else await signInAs(page, who, path);
  inUse.set(context, email);
}

/** Opens another page of the console in the session that there is. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`);
  await settled(page);
}

/** Goes to another page of the console as its links do, without loading the document anew. The page has to have a title of its own. */
export async function turnTo(page: Page, path: string): Promise<void> {
  const before = await page.title();
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, `/console${path}`);
  await settled(page, before);
}

/** A field by its label; what is required has a star there. */
export const field = (within: Page | Locator, label: string): Locator =>
  within.locator('input, textarea').and(within.getByLabel(new RegExp(`^${escaped(label)}( \\*)?$`)));

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Chooses a value in a list to choose from. */
export async function choose(within: Page | Locator, label: string, value: string): Promise<void> {
  const page = 'goto' in within ? within : within.page();
  await field(within, label).click();
  await page.getByRole('option', { name: value, exact: true }).click();
}

/** What unfolds all events of a booking. */
export const allEvents = (page: Page, t: Fixtures['t']): Locator =>
  page.locator('summary').filter({ hasText: t('booking.allEvents', { count: '' }).replace(/[()\s]+$/, '') });

/** A dialog by its title. */
export const dialog = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('dialog', { name: typeof name === 'string' ? wholeWords(name) : name });

/** The text with nothing that makes a word of it longer: "Resolve" is not the drawer of what is "Resolved". */
const wholeWords = (text: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}])${text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'u');

/** The row of a list that has the text. */
export const row = (page: Page, text: string): Locator =>
  page.locator('main').getByRole('row').filter({ hasText: text });
