import { beforeAll, describe, expect, it } from 'vitest';
import encodeQR from 'qr';
import { decodeQR } from 'qr/decode.js';
import { judge, searched, withEntries } from './judge';
import type { Entry, Passenger } from './kept';
import { isSigned, looksLikeTicket, readTicket, type Key } from './ticket';

const trip = '019ab0c2-6d5e-7b1a-9a55-0c1f5a3c9d10';
const id = (end: number) => `019ab0c5-3000-8aaa-8bbb-0000000000${String(end).padStart(2, '0')}`;
const now = Date.parse('2026-12-01T05:00:00Z');

const passenger = (end: number, more: Partial<Passenger> = {}): Passenger => ({
  passenger_id: id(end),
  name: 'Sara',
  booking_id: 'b',
  booking_number: 'RB-7XK2M9Q',
  status: 'CONFIRMED',
  status_label_ar: 'مؤكد',
  status_label_en: 'Confirmed',
  checked_in_at: null,
  ...more,
});

const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');

let keys: Key[];
let signed: (body: object, kid?: string) => Promise<string>;
beforeAll(async () => {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { x = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey);
  keys = [{ kid: 'k1', use: 'ticket', x }];
  signed = async (body, kid = 'k1') => {
    const text = `${base64(JSON.stringify({ alg: 'EdDSA', kid }))}.${base64(JSON.stringify(body))}`;
    const signature = await crypto.subtle.sign('Ed25519', pair.privateKey, new TextEncoder().encode(text));
    return `${text}.${base64(new Uint8Array(signature))}`;
  };
});

const body = (more: object = {}) => ({
  bn: 'RB-7XK2M9Q',
  pid: id(1),
  pos: 1,
  name: 'سارة',
  trip,
  exp: now / 1000 + 60,
  ...more,
});

describe('tickets', () => {
  it('are read, also from a picture of their code', async () => {
    const code = await signed(body());
    const squares = encodeQR(code, 'raw', { border: 4, scale: 4 });
    const size = squares.length;
    const data = new Uint8ClampedArray(
      squares.flat().flatMap((dark) => (dark ? [0, 0, 0, 255] : [255, 255, 255, 255])),
    );
    const read = decodeQR({ width: size, height: size, data });
    expect(read).toBe(code);
    expect(readTicket(read)).toMatchObject({ trip, passenger: id(1), name: 'سارة', booking: 'RB-7XK2M9Q' });
  });

  it('are signed by a key for tickets, changed, or of a key that is not known here', async () => {
    const code = await signed(body());
    expect(await isSigned(code, keys)).toBe(true);
    const [head = '', , signature = ''] = code.split('.');
    expect(await isSigned(`${head}.${base64(JSON.stringify(body({ name: 'x' })))}.${signature}`, keys)).toBe(false);
    expect(await isSigned(await signed(body(), 'k2'), keys)).toBeNull();
    expect(await isSigned(code, [{ kid: 'k1', use: 'sig', x: keys[0]?.x ?? '' }])).toBeNull();
  });

  it.each(['', 'RB-7XK2M9Q', 'a.b', 'a.b.c', `${'a'.repeat(8000)}.b.c`, 'https://example.test/a.b.c'])(
    '%j is none',
    (text) => {
      expect(readTicket(text)).toBeNull();
    },
  );

  it('are told from names and numbers', () => {
    expect(looksLikeTicket('ey.ab-c_.d')).toBe(true);
    expect(looksLikeTicket('محمد الحربي')).toBe(false);
  });
});

describe('what is known without a network', () => {
  const ticket = (more: object = {}) => {
    const { pid, name, bn, exp, trip: of } = { ...body(), ...more };
    return { trip: of, passenger: pid, name, booking: bn, expires: exp };
  };
  const list = [
    passenger(1),
    passenger(2, { checked_in_at: '2026-12-01T04:50:00Z' }),
    passenger(3, { status: 'CANCELLED' }),
  ];
  const noted: Entry[] = [{ trip, at: '2026-12-01T04:55:00.000Z', passenger_id: id(1) }];
  const refused: Entry[] = noted.map((one) => ({ ...one, result: { status: 'CANCELLED', checked_in_at: null } }));

  it.each([
    ['a ticket of the list', ticket(), true, [], 'SAVED'],
    ['one whose key is not known', ticket(), null, [], 'SAVED'],
    ['one that was noted before', ticket(), true, noted, 'ALREADY'],
    ['one that was refused before', ticket(), true, refused, 'SAVED'],
    ['one that boarded', ticket({ pid: id(2) }), true, [], 'ALREADY'],
    ['a cancelled one', ticket({ pid: id(3) }), true, [], 'CANCELLED'],
    ['one that was booked later', ticket({ pid: id(9) }), true, [], 'UNLISTED'],
    ['another trip', ticket({ trip: id(8) }), true, [], 'OTHER_TRIP'],
    ['a changed one', ticket(), false, [], 'INVALID'],
    ['an old one', ticket({ exp: now / 1000 - 1 }), true, [], 'INVALID'],
    ['none', null, null, [], 'INVALID'],
  ] as const)('%s', (_, found, isValid, entries, verdict) => {
    expect(
      judge({ ticket: found, signed: isValid }, { trip, passengers: list, entries: [...entries], now }).verdict,
    ).toBe(verdict);
  });

  it('the list says who is noted', () => {
    expect(withEntries(list, noted).map(({ checked_in_at }) => checked_in_at !== null)).toEqual([true, true, false]);
    expect(withEntries(list, refused).map(({ checked_in_at }) => checked_in_at !== null)).toEqual([false, true, false]);
  });
});

it.each([
  ['xk2', 'RB-7XK2M9Q'],
  ['احمد', 'RB-1'],
  ['فاطمه', 'RB-2'],
  ['HARBI moh', 'RB-3'],
  // A number behind a name is not that of a booking.
  ['traveller 3', 'RB-4'],
])('%s finds %s alone', (text, number) => {
  const all = [
    passenger(1),
    passenger(2, { name: 'أَحمد', booking_number: 'RB-1' }),
    passenger(3, { name: 'فاطمة', booking_number: 'RB-2' }),
    passenger(4, { name: 'Mohammed Al-Harbi', booking_number: 'RB-3' }),
    passenger(5, { name: 'Traveller 3', booking_number: 'RB-4' }),
    passenger(6, { name: 'Traveller 4', booking_number: 'RB-53' }),
  ];
  expect(searched(all, text).map(({ booking_number }) => booking_number)).toEqual([number]);
});
