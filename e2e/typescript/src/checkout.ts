// The gateway's page on a telephone, in a real browser: the button that pays is in sight, whatever the method, language and title;
// and a customer gets from there through the service back to the app, whether the payment was taken or not.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

import { type Browser } from 'playwright-core';

import { startBrowser } from './browser.js';
import { anybody, type Schemas, signIn, succeeds } from './client.js';

/** A telephone, and what is left of its height between the bars of its browser. */
const telephone = { width: 390, height: 844 };
const inSight = 664;

const { caller: customer } = await signIn('end_user');
const trips = await succeeds(200, anybody().GET('/api/v1/trips', { params: { query: { per_page: 10 } } }));
const trip = trips.data.find((candidate) => candidate.seats_left >= 3);
assert.ok(trip, 'no trip can be booked');

// The app to which the customer comes back.
const app = createServer((_, response) => response.end('<!doctype html><title>app</title>'));
await new Promise<void>((listening) => app.listen(0, '127.0.0.1', listening));
const done = `http://127.0.0.1:${(app.address() as AddressInfo).port}/done`;

const browser = await startBrowser();

try {
  await pays(browser, 'credit_card', 'succeed', 'PAID');
  await pays(browser, 'wallet_a', 'decline', 'FAILED');
  await pays(browser, 'credit_card', 'cancel', 'FAILED');
  console.log('The button that pays is in sight on a telephone, and the customer comes back to the app');
} finally {
  await browser.close();
  app.close();
}

/** Books, looks at the gateway's page, presses a button there, and looks at what the app gets. */
async function pays(
  on: Browser,
  method: Schemas['PaymentMethod'],
  outcome: 'succeed' | 'decline' | 'cancel',
  status: Schemas['TransactionStatus'],
): Promise<void> {
  assert.ok(trip);
  const { data: booking } = await succeeds(
    201,
    customer.POST('/api/v1/bookings', {
      body: {
        trip_id: trip.id,
        passengers: [{ name: 'First Passenger' }],
        contact: { name: 'Demo Customer', email: 'customer@rihla.test', phone: '+966500000001' },
        payment_method: method,
        return_url: `${done}?token=1`,
      },
    }),
  );
  const checkout = booking.payment.checkout_url;
  assert.ok(checkout, 'there is no checkout');

  const context = await on.newContext({ viewport: telephone, isMobile: true, hasTouch: true });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });

  for (const lang of ['ar', 'en']) {
    await page.goto(`${checkout}?lang=${lang}`);
    const box = await page.locator('button[value=succeed]').boundingBox();
    assert.ok(box && box.y + box.height <= inSight, `${method}, ${lang}: Pay ends at ${box ? box.y + box.height : 'nowhere'}`);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), telephone.width, `${method}, ${lang}: it scrolls sideways`);
  }

  await page.locator(`button[value=${outcome}]`).click();
  await page.waitForURL((url) => url.href.startsWith(done));

  const back = new URL(page.url()).searchParams;
  assert.equal(back.get('token'), '1');
  assert.equal(back.get('booking_id'), booking.id);
  assert.equal(back.get('transaction_id'), booking.payment.transaction_id);
  assert.ok(['PENDING', status].includes(back.get('status') ?? ''), page.url());
  assert.deepEqual(complaints, [], 'the browser complains about nothing');

  // The page of an attempt that has failed leads back, too.
  if (status === 'FAILED') {
    await page.goto(`${checkout}?lang=en`);
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.waitForURL((url) => url.href.startsWith(done));
  }

  await context.close();
}
