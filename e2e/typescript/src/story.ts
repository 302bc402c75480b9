// The story of `rihla demo`, told by the generated client: a customer books a trip and pays at the gateway's page, finance
// staff see the ledger's line, give money back and export. Every step is checked.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { anybody, baseUrl, fails, type Schemas, signIn, succeeds } from './client.js';

let began = performance.now();
let step = 0;

function say(what: string): void {
  step += 1;
  console.log(`${String(step).padStart(2)}. ${what.padEnd(100)}${Math.round(performance.now() - began)} ms`);
  began = performance.now();
}

/** Money has two decimals; sums are compared in halalas. */
const halalas = (amount: number): number => Math.round(amount * 100);
const riyals = (amount: number): string => `${amount.toFixed(2)} SAR`;

const { caller: customer, user } = await signIn('end_user');
const { caller: finance } = await signIn('finance_admin');

assert.equal(user.role, 'END_USER');
assert.equal(user.provider_id, null);

const { data: me } = await succeeds(200, customer.GET('/api/v1/me'));
// The own account: the user of the log-in, and what is known of how its owner signs in.
assert.deepEqual({ ...me, ...user }, me);
assert.deepEqual([me.email_verified, me.second_factor, me.second_factor_needed], [true, false, false]);
say(`${user.name} and a member of finance staff sign in`);

const failure = await fails(401, 'UNAUTHENTICATED', anybody().GET('/api/v1/me'));
assert.notEqual(failure.message, '');
await fails(403, 'FORBIDDEN', customer.GET('/api/v1/admin/financial-records'));
say('Nobody else is let in: 401 without a token, 403 without the role');

const trips = await succeeds(200, anybody().GET('/api/v1/trips', { params: { query: { sort: 'departure_at', per_page: 10 } } }));
const trip = trips.data.find((candidate) => candidate.seats_left >= 2);
assert.ok(trip, 'no trip can be booked');
assert.equal(trips.meta.per_page, 10);
assert.equal(trip.status, 'PUBLISHED');
say(`${trips.meta.total} trips; the first one is “${trip.title}”, ${trip.seats_left} seats left`);

const request: Schemas['BookingRequest'] = {
  trip_id: trip.id,
  passengers: [{ name: 'First Passenger' }, { name: 'Second Passenger', document_number: 'A1234567' }],
  contact: { name: 'Demo Customer', email: 'customer@rihla.test', phone: '+966500000001' },
  payment_method: 'credit_card',
};
const once = { params: { header: { 'Idempotency-Key': randomUUID() } }, body: request };

const { data: booking } = await succeeds(201, customer.POST('/api/v1/bookings', once));
assert.equal(booking.status, 'PENDING_PAYMENT');
assert.equal(booking.seats, 2);
assert.equal(halalas(booking.amount), 2 * halalas(trip.price_per_seat));

const checkout = booking.payment.checkout_url;
assert.ok(checkout, 'there is no checkout');
say(`Book ${booking.seats} seats: ${booking.status}, ${riyals(booking.amount)}, checkout open`);

const replay = await customer.POST('/api/v1/bookings', once);
assert.equal(replay.response.headers.get('Idempotent-Replayed'), 'true');
assert.equal(replay.data?.data.id, booking.id);

const reused = { ...once, body: { ...request, payment_method: 'wallet_a' as const } };
await fails(422, 'IDEMPOTENCY_KEY_REUSED', customer.POST('/api/v1/bookings', reused));
say('Sent again, the request gives the same booking; with another body the key is refused');

const page = await fetch(checkout, { headers: { 'Accept-Language': 'en' } });
assert.equal(page.status, 200);
assert.match(await page.text(), /<form/);

const paid = await fetch(checkout, { method: 'POST', body: new URLSearchParams({ outcome: 'succeed' }), redirect: 'manual' });
assert.ok(paid.status < 400, `the gateway answers ${paid.status}`);
say('The customer opens the gateway’s page and pays there');

const status = await untilDecided(booking.id);
assert.equal(status.payment_status, 'PAID');
assert.equal(status.booking_status, 'CONFIRMED');
assert.equal(status.ui_label, status.ui_label_en);
say(`Polling sees payment ${status.payment_status} (${status.ui_label_en}), booking ${status.booking_status}`);

const [sale, ...others] = await records();
assert.ok(sale && others.length === 0, 'the ledger has one line');
assert.equal(sale.kind, 'SALE');
assert.equal(sale.balance_status, 'IN_CURRENT_BALANCE');
assert.equal(halalas(sale.gross_amount), halalas(booking.amount));
assert.equal(halalas(sale.gross_amount), halalas(sale.platform_commission_amount) + halalas(sale.net_amount));
say(
  `The ledger has its line ${sale.transaction_number}: gross ${riyals(sale.gross_amount)} = commission ` +
    `${riyals(sale.platform_commission_amount)} + net ${riyals(sale.net_amount)}`,
);

const part = halalas(booking.amount / 4) / 100;
const partial = await refund({ refund_type: 'PARTIAL', amount: part, reason: 'one night less' });
assert.equal(halalas(partial.amount), halalas(part));
await expectBooking('CONFIRMED');

const split = await records();
assert.deepEqual(split.map((line) => line.balance_status).sort(), ['IN_CURRENT_BALANCE', 'REFUNDED']);
assert.equal(split.reduce((sum, line) => sum + halalas(line.gross_amount), 0), halalas(booking.amount));
say(`A quarter goes back: ${partial.status}, ${riyals(partial.amount)}; the line is split in two`);

const rest = await refund({ refund_type: 'FULL' });
assert.equal(halalas(rest.amount) + halalas(partial.amount), halalas(booking.amount));
await expectBooking('CANCELLED');
assert.ok((await records()).every((line) => line.balance_status === 'REFUNDED'));

const path = { params: { path: { id: booking.id } } };
await fails(409, 'BOOKING_NOT_REFUNDABLE', finance.POST('/api/v1/admin/bookings/{id}/refund', { ...path, body: { refund_type: 'FULL' } }));
say(`The rest goes back: ${rest.status}, ${riyals(rest.amount)}; the booking is CANCELLED, no more is left`);

const file = await finance.GET('/api/v1/admin/financial-records/export', {
  params: { query: { format: 'csv', booking_id: booking.id, sort: 'created_at' } },
  parseAs: 'text',
});
assert.equal(file.response.status, 200);
assert.match(file.response.headers.get('Content-Type') ?? '', /^text\/csv/);
assert.match(file.response.headers.get('Content-Disposition') ?? '', /filename="?[^"]*\d{4}-\d{2}-\d{2}/);

const lines = String(file.data).trimEnd().split('\n');
assert.equal(lines.length, 3, 'a heading and two lines');
assert.ok(lines.some((line) => line.includes(sale.transaction_number)));
say(`Finance staff export the ${lines.length - 1} records as CSV`);

console.log(`The generated client told the whole story of ${baseUrl}: ${step} steps`);

/** Polls as an app does: each call waits for the decision, and a few of them are enough. */
async function untilDecided(id: string): Promise<Schemas['PaymentStatus']> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const { data } = await succeeds(
      200,
      customer.GET('/api/v1/bookings/{id}/payment-status', { params: { path: { id }, query: { wait: 20 } } }),
    );

    if (data.payment_status !== 'PENDING') return data;
  }

  throw new Error('the payment stays PENDING');
}

async function records(): Promise<Schemas['FinancialRecord'][]> {
  const { data, meta } = await succeeds(
    200,
    finance.GET('/api/v1/admin/financial-records', { params: { query: { booking_id: booking.id, sort: 'created_at' } } }),
  );
  assert.equal(meta.total, data.length);

  return data;
}

/** Issues a refund and follows it until the gateway has decided, when it has not at once (202). */
async function refund(body: Schemas['RefundRequest']): Promise<Schemas['Refund']> {
  const params = { path: { id: booking.id }, header: { 'Idempotency-Key': randomUUID() } };
  const answer = await finance.POST('/api/v1/admin/bookings/{id}/refund', { params, body });
  assert.ok(answer.data, JSON.stringify(answer.error));

  let { data: current } = answer.data;
  for (const deadline = performance.now() + 60_000; current.status === 'PENDING' && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    ({ data: current } = await succeeds(200, finance.GET('/api/v1/admin/refunds/{id}', { params: { path: { id: current.id } } })));
  }

  assert.equal(current.status, 'SUCCEEDED');

  return current;
}

async function expectBooking(expected: Schemas['BookingStatus']): Promise<void> {
  const { data } = await succeeds(200, customer.GET('/api/v1/bookings/{id}', { params: { path: { id: booking.id } } }));
  assert.equal(data.status, expected);
}
