import { randomInt, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { components } from '../src/gen/schema';
import { dayIn } from '../src/lib/dates';

export type Schemas = components['schemas'];

/** Where the service is. */
export const address = process.env['RIHLA_URL'] ?? 'http://127.0.0.1:8080';

/** The password of every user that `rihla dev` makes. */
export const password = 'rihla-dev-password';

export const emailOf = (role: Schemas['Role']) => `${role.toLowerCase()}@rihla.test`;

interface Answer<T> {
  data: T;
}

/** The API, for what a test needs to be there; what it tests, it does in the browser. */
export class Caller {
  private constructor(private readonly token: string) {}

  private static readonly known = new Map<string, Promise<Caller>>();

  /** One of the users of `rihla dev`, signed in once for all tests. */
  static as(role: Schemas['Role']): Promise<Caller> {
    const known = Caller.known.get(role) ?? Caller.signIn(emailOf(role), password);
    Caller.known.set(role, known);
    return known;
  }

  static async signIn(email: string, secret: string): Promise<Caller> {
    const { data } = await new Caller('').post<Answer<{ access_token: string }>>('/api/v1/auth/login', {
      email,
      password: secret,
    });
    return new Caller(data.access_token);
  }

  get = <T>(path: string) => this.call<T>('GET', path);
  post = <T>(path: string, body: object = {}) => this.call<T>('POST', path, body);
  patch = <T>(path: string, body: object) => this.call<T>('PATCH', path, body);

  /** A document for people, in English. */
  async page(path: string): Promise<string> {
    const response = await fetch(address + path, {
      headers: { Accept: 'text/html', 'Accept-Language': 'en', Authorization: `Bearer ${this.token}` },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.text();
  }

  private async call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(address + path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        'Accept-Language': 'en',
        'Idempotency-Key': randomUUID(),
        ...(this.token && { Authorization: `Bearer ${this.token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  }
}

/** Waits until `read` answers something else than null. */
export async function eventually<T>(what: string, read: () => Promise<T | null | undefined>): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end;) {
    const found = await read();
    if (found !== null && found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come`);
}

/** The business day that is so many days ahead; in Riyadh it begins three hours before the day in UTC. */
export const day = (ahead: number) => dayIn(new Date(Date.now() + ahead * 86_400_000));

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** A new trip of the demo company that can be booked, 1,150.00 SAR a seat, so many hours before its departure. */
export async function newTrip(title = `Trip ${randomInt(1e9)}`, hours = 720): Promise<Schemas['Trip']> {
  const company = await Caller.as('PROVIDER_ADMIN');
  const { data: buses } = await company.get<Answer<Schemas['Bus'][]>>('/api/v1/provider/buses?status=ACTIVE');
  const { data: hotels } = await company.get<Answer<Schemas['Hotel'][]>>('/api/v1/provider/hotels?status=ACTIVE');
  const { data: trip } = await company.post<Answer<Schemas['Trip']>>('/api/v1/provider/trips', {
    type: 'TOURISM',
    title,
    origin: 'Riyadh',
    destination: 'AlUla',
    departure_at: inHours(hours),
    return_at: inHours(hours + 72),
    bus_id: buses[0]?.id,
    hotel_id: hotels[0]?.id,
    price_per_seat: 1150,
    capacity: 20,
  });
  await company.post(`/api/v1/trips/${trip.id}/publish`);
  return trip;
}

/** A telephone number that no other booking has. */
const newPhone = () => `+9665${randomInt(1e8).toString().padStart(8, '0')}`;

interface Sale {
  seats?: number;
  method?: Schemas['PaymentMethod'];
  trip?: Schemas['Trip'];
  /** In how many hours its trip departs. */
  departs?: number;
}

/** A booking that the customer has paid for at the sandbox gateway's page. */
export async function paidBooking({ seats = 1, method = 'credit_card', ...sale }: Sale = {}): Promise<
  Schemas['Booking']
> {
  const booking = await newBooking({ seats, method, ...sale });
  await press(booking, 'succeed');
  return booking;
}

export async function newBooking({
  seats = 1,
  method = 'credit_card',
  trip,
  departs,
}: Sale): Promise<Schemas['Booking']> {
  const customer = await Caller.as('END_USER');
  const { id } = trip ?? (await newTrip(undefined, departs));
  const { data } = await customer.post<Answer<Schemas['Booking']>>('/api/v1/bookings', {
    trip_id: id,
    passengers: Array.from({ length: seats }, (_, seat) => ({ name: `Passenger ${seat + 1}` })),
    contact: { name: `Customer ${randomInt(1e6)}`, email: 'customer@rihla.test', phone: newPhone() },
    payment_method: method,
  });
  unpaid.add(data.id);
  return data;
}

/** What this test has booked, and nothing was pressed for at the gateway. */
const unpaid = new Set<string>();

/** Gives up what was left unpaid: an account has few of them at once, and the tests share one. */
export async function releaseUnpaid(): Promise<void> {
  const left = [...unpaid];
  unpaid.clear();
  const customer = await Caller.as('END_USER');
  for (const id of left) {
    const { data } = await customer.get<Answer<Schemas['Booking']>>(`/api/v1/bookings/${id}`);
    if (data.status === 'PENDING_PAYMENT') await customer.post(`/api/v1/bookings/${id}/cancel`);
  }
}

/** Presses a button of the gateway's page, and waits until the payment is decided. */
export async function press(booking: Schemas['Booking'], outcome: 'succeed' | 'decline'): Promise<void> {
  unpaid.delete(booking.id);
  const page = booking.payment.checkout_url;
  if (!page) throw new Error('the booking has no checkout');
  const pressed = await fetch(page, {
    method: 'POST',
    body: new URLSearchParams({ outcome }),
    redirect: 'manual',
  });
  if (pressed.status >= 400) throw new Error(`the gateway answers ${pressed.status}`);
  const customer = await Caller.as('END_USER');
  await eventually('the decision of the payment', async () => {
    const { data } = await customer.get<Answer<Schemas['PaymentStatus']>>(
      `/api/v1/bookings/${booking.id}/payment-status?wait=20`,
    );
    return data.payment_status === 'PENDING' ? null : data;
  });
}

/** The customer asks for the first passengers of a booking to be cancelled, or for all of them. */
export async function askToCancel(
  { id, passengers }: Schemas['Booking'],
  seats = passengers.length,
  reason = 'We do not travel',
): Promise<Schemas['CancellationRequest']> {
  const customer = await Caller.as('END_USER');
  const { data } = await customer.post<Answer<Schemas['CancellationRequest']>>(
    `/api/v1/bookings/${id}/cancellation-requests`,
    { passenger_ids: passengers.slice(0, seats).map((passenger) => passenger.id), reason },
  );
  return data;
}

/** Has the gateway of a booking do something else than it should, once. */
export async function fault(booking: Schemas['Booking'], operation: string, mode: string): Promise<void> {
  const { origin } = new URL(booking.payment.checkout_url ?? '');
  const response = await fetch(`${origin}/sandbox/faults`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ operation, mode }),
  });
  if (!response.ok) throw new Error(`the gateway answers ${response.status}`);
}

/** The only item of a collection. */
export async function only<T>(caller: Caller, path: string): Promise<T> {
  const { data } = await caller.get<Answer<T[]>>(path);
  const [item] = data;
  if (!item || data.length > 1) throw new Error(`${path} has ${data.length} items`);
  return item;
}

/** Invites one of the platform's own people; the address is new. */
export async function invite(role: Schemas['PlatformRole'], language: Schemas['Locale']): Promise<Schemas['Account']> {
  const caller = await Caller.as('SUPER_ADMIN');
  const { data } = await caller.post<Answer<Schemas['Account']>>('/api/v1/admin/users', {
    name: `New ${role.toLowerCase()}`,
    email: `e2e-${randomUUID().slice(0, 8)}@rihla.test`,
    phone: newPhone(),
    role,
    locale: language,
  });
  return data;
}

/** The link to a page of the console in a message that the service has written to the address. */
export function linkTo(email: string, page: 'invitation' | 'reset-password'): Promise<string> {
  const outbox = process.env['RIHLA_OUTBOX'];
  if (!outbox) throw new Error('RIHLA_OUTBOX is not set');
  return eventually(`the message to ${email}`, async () => {
    for (const name of await readdir(outbox)) {
      if (!name.endsWith('.eml')) continue;
      const message = await readFile(`${outbox}/${name}`, 'utf8');
      if (!message.includes(`<${email}>`)) continue;
      // Quoted-printable: long lines are broken by a `=` at their end.
      const found = new RegExp(`http\\S+/console(/${page}#[\\w-]+)`).exec(message.replace(/=\r?\n/g, ''));
      if (found?.[1]) return `/console${found[1]}`;
    }
    return null;
  });
}

/** An account of its own for one test: a person of the platform who has chosen a password. */
export async function newStaff(
  role: Schemas['PlatformRole'],
  language: Schemas['Locale'] = 'en',
): Promise<Schemas['Account']> {
  const account = await invite(role, language);
  const link = await linkTo(account.email, 'invitation');
  const token = link.slice(link.indexOf('#') + 1);
  const response = await fetch(`${address}/api/v1/auth/reset-password`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, password }),
  });
  if (!response.ok) throw new Error(`the invitation: ${response.status} ${await response.text()}`);
  return account;
}

/** A campaign for a trip that has been paid for at the sandbox gateway's page, of 1,000.00 SAR without VAT, that begins in so many days. */
export async function paidCampaign(trip: Schemas['Trip'], starts: number): Promise<Schemas['AdCampaign']> {
  const company = await Caller.as('PROVIDER_ADMIN');
  const path = '/api/v1/provider/ad-campaigns';
  const { data: campaign } = await company.post<Answer<Schemas['AdCampaign']>>(path, {
    trip_id: trip.id,
    title: `Campaign ${randomInt(1e9)}`,
    starts_on: day(starts),
    ends_on: day(starts + 9),
    price: 1000,
  });
  const { data: intent } = await company.post<Answer<Schemas['PaymentTransaction']>>(
    `/api/v1/payments/ad-campaign/${campaign.id}/intent`,
    { payment_method: 'credit_card' },
  );
  await fetch(intent.checkout_url ?? '', {
    method: 'POST',
    body: new URLSearchParams({ outcome: 'succeed' }),
    redirect: 'manual',
  });
  return eventually('the payment of the campaign', async () => {
    const { data } = await company.get<Answer<Schemas['AdCampaign']>>(`${path}/${campaign.id}`);
    return data.status === 'PENDING_PAYMENT' ? null : data;
  });
}
