// The page /docs in a real browser: it shows every operation of the document, asks no other host for anything, and its
// policy would not let it.
import assert from 'node:assert/strict';
import { env } from 'node:process';

import { type BrowserContext, type Locator, type Page } from 'playwright-core';

import { startBrowser } from './browser.js';
import { baseUrl } from './client.js';

interface Document {
  paths: Record<string, Record<string, { operationId: string; summary: string }>>;
}

const url = new URL('/docs', baseUrl);
const served = (await (await fetch(new URL('/openapi.json', baseUrl))).json()) as Document;
const operations = Object.values(served.paths).flatMap((path) => Object.values(path).filter((item) => 'operationId' in item));

const browser = await startBrowser();

try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, serviceWorkers: 'block' });
  const { requests, complaints } = watch(context);
  const page = await context.newPage();

  const answer = await page.goto(url.href, { waitUntil: 'networkidle' });
  assert.equal(answer?.status(), 200);
  checkPolicy(answer?.headers()['content-security-policy'] ?? '');

  await showsEveryOperation(page);
  await showsOneInFull(page);
  await triesOne(page);
  await fitsNarrowScreens(page);

  assert.deepEqual(complaints, [], 'the browser complains about nothing');
  assert.deepEqual(
    requests.filter((request) => new URL(request).origin !== url.origin && !request.startsWith('data:')),
    [],
    'every request goes to the service itself',
  );
  assert.ok(requests.includes(new URL('/openapi.json', baseUrl).href), 'it reads the served document');
  console.log(`${requests.length} requests, all of them to ${url.origin}`);

  await refusesOtherHosts(page, requests);
} finally {
  await browser.close();
}

/** Writes down every request of every page and worker, and everything that goes wrong. */
function watch(context: BrowserContext): { requests: string[]; complaints: string[] } {
  const requests: string[] = [];
  const complaints: string[] = [];

  context.on('request', (request) => requests.push(request.url()));
  context.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText ?? 'failed'}`));
  context.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`);
  });
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));

  return { requests, complaints };
}

/** The policy's sources are this server, data: and inline styles, and nothing is allowed by default. */
function checkPolicy(policy: string): void {
  const directives = new Map(policy.split(';').map((part) => part.trim().split(/\s+/)).map(([name, ...sources]) => [name, sources]));
  assert.deepEqual(directives.get('default-src'), ["'none'"], policy);

  for (const [name, sources] of directives) {
    const foreign = sources.filter((source) => !["'none'", "'self'", 'data:', "'unsafe-inline'"].includes(source));
    assert.deepEqual(foreign, [], `${name} names other hosts`);
  }

  assert.deepEqual(directives.get('script-src'), ["'self'"], 'no inline script');
}

async function showsEveryOperation(page: Page): Promise<void> {
  const entries = page.locator('rapi-doc .nav-bar-path');
  await entries.nth(operations.length - 1).waitFor({ state: 'attached', timeout: 30_000 });

  const shown = (await entries.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  const missing = operations.filter(({ summary }) => !shown.some((text) => text.includes(summary)));

  assert.equal(shown.length, operations.length, 'one entry per operation');
  assert.deepEqual(missing.map(({ operationId }) => operationId), [], 'every operation has its entry');
  console.log(`${url.href} lists all ${shown.length} operations`);
}

async function showsOneInFull(page: Page): Promise<void> {
  const content = await open(page, '/api/v1/bookings', 'post');

  for (const text of ['/api/v1/bookings', 'Roles:', 'Idempotency-Key', 'passengers']) await visible(content, text);
  if (env['SCREENSHOT']) await page.screenshot({ path: env['SCREENSHOT'] });

  await content.getByRole('button', { name: '409' }).click();
  await visible(content, 'TRIP_CAPACITY_REACHED');
  console.log('An operation is shown with its roles, its parameters, its body and its answers');
}

/** The page's own button calls the service. */
async function triesOne(page: Page): Promise<void> {
  const content = await open(page, '/api/v1/trips', 'get');
  const called = page.waitForResponse((response) => new URL(response.url()).pathname === '/api/v1/trips');

  await content.getByRole('button', { name: 'Try' }).filter({ visible: true }).click();
  assert.equal((await called).status(), 200);
  await visible(content, 'Response Status: OK:200');
  console.log('An operation can be tried from the page');
}

/** On a telephone the operations are behind a button, and choosing one shows it. No key is filled in that all readers would share. */
async function fitsNarrowScreens(page: Page): Promise<void> {
  const wide = page.viewportSize();
  assert.ok(wide);
  await page.setViewportSize({ width: 390, height: 844 });

  const list = page.locator('rapi-doc .nav-bar');
  await list.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Operations' }).click();
  await list.waitFor({ state: 'visible' });

  const content = await open(page, '/api/v1/bookings', 'post');
  await list.waitFor({ state: 'hidden' });

  const key = content.locator('input[data-pname="Idempotency-Key"]').first();
  assert.equal(await key.inputValue(), '', 'a key that is filled in would be the same for every reader');
  if (env['SCREENSHOT_NARROW']) await page.screenshot({ path: env['SCREENSHOT_NARROW'] });
  await page.setViewportSize(wide);
  console.log('Operations can be found on a narrow screen');
}

async function open(page: Page, path: string, method: string): Promise<Locator> {
  const operation = served.paths[path]?.[method];
  assert.ok(operation, `${method} ${path}`);

  await page.locator('rapi-doc .nav-bar-path').filter({ hasText: operation.summary }).first().click();

  const content = page.locator('rapi-doc .main-content');
  await visible(content, operation.summary);

  return content;
}

async function visible(within: Locator, text: string): Promise<void> {
  await within.getByText(text).filter({ visible: true }).first().waitFor({ timeout: 15_000 });
}

/** Tries to reach another host from inside the page, by every way that the policy has a word for. */
async function refusesOtherHosts(page: Page, requests: string[]): Promise<void> {
  const before = requests.length;
  const refused = await page.evaluate(async () => {
    const seen = new Set<string>();
    const done = new Promise<void>((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => {
        seen.add(event.effectiveDirective);
        if (seen.size === 4) resolve();
      });
    });

    const elsewhere = 'http://elsewhere.invalid/';
    const add = (tag: string, attributes: Record<string, string>) => {
      const element = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      document.body.append(element);
    };

    fetch(elsewhere).catch(() => undefined);
    add('img', { src: elsewhere });
    add('script', { src: elsewhere });
    add('link', { rel: 'stylesheet', href: elsewhere });

    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 15_000))]);

    return [...seen].sort();
  });

  assert.deepEqual(refused, ['connect-src', 'img-src', 'script-src-elem', 'style-src-elem']);
  // The browser may announce what it refuses, but none of it is answered or even looked up.
  for (const request of requests.slice(before)) assert.match(request, /elsewhere\.invalid/);
  console.log('What the page would ask of another host, the browser refuses to send');
}
