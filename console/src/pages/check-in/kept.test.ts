import { beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetPassengers, hasEntries, type Kept } from '@/lib/kept';
import { ApiError, NoAnswer } from '@/api/errors';
import { deviceId, keptUntil, Shelf, type Answer, type Passenger } from './kept';

// The client of the API reads it when it is loaded.
vi.stubGlobal('location', { origin: 'http://rihla.test' });
const { sendEntries } = await import('./send');

const trip = '019ab0c2-6d5e-7b1a-9a55-0c1f5a3c9d10';
const departure = '2026-12-01T06:00:00Z';
const now = Date.parse('2026-12-01T05:00:00Z');

function storage(): Kept {
  const map = new Map<string, string>();
  return {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    key: (index) => [...map.keys()][index] ?? null,
    get length() {
      return map.size;
    },
  };
}

const passenger = (passenger_id: string, checked_in_at: string | null = null): Passenger => ({
  passenger_id,
  name: `Passenger ${passenger_id}`,
  booking_id: 'b',
  booking_number: 'RB-1',
  status: 'CONFIRMED',
  status_label_ar: 'مؤكد',
  status_label_en: 'Confirmed',
  checked_in_at,
});

const keep = (shelf: Shelf, passengers: Passenger[], read = now) => {
  shelf.keepList({
    trip: { id: trip, title: 'T', origin: 'A', destination: 'B', departure_at: departure },
    passengers,
    keys: [],
    read,
  });
};

let kept: Kept;
let shelf: Shelf;
beforeEach(() => {
  kept = storage();
  shelf = new Shelf('me', kept);
});

describe('passenger lists', () => {
  it.each([
    ['2026-12-01T06:00:00Z', '2026-12-01T21:00:00Z'],
    ['2026-12-01T20:30:00Z', '2026-12-02T02:30:00Z'],
  ])('of a trip at %s are kept until %s', (at, until) => {
    expect(new Date(keptUntil(at)).toISOString()).toBe(until.replace('Z', '.000Z'));
  });

  it('are forgotten after the day, at sign-out, and never shown to another account', () => {
    keep(shelf, [passenger('a')]);
    expect(shelf.list(trip, now)?.passengers).toHaveLength(1);
    expect(new Shelf('other', kept).list(trip, now)).toBeNull();
    expect(shelf.list(trip, keptUntil(departure) + 1)).toBeNull();
    forgetPassengers(now, kept);
    expect(shelf.lists(now)).toHaveLength(1);
    forgetPassengers(keptUntil(departure) + 1, kept);
    expect(kept.length).toBe(0);
    keep(shelf, [passenger('a')]);
    forgetPassengers(Infinity, kept);
    expect(kept.length).toBe(0);
  });

  it('keep a check-in that is newer than they are', () => {
    keep(shelf, [passenger('a', departure)]);
    keep(shelf, [passenger('a'), passenger('b')]);
    expect(shelf.list(trip, now)?.passengers.map(({ checked_in_at }) => checked_in_at)).toEqual([departure, null]);
  });

  it('what cannot be read is not there', () => {
    kept.setItem(`rihla.passengers.${trip}`, '{');
    expect(shelf.list(trip, now)).toBeNull();
  });
});

describe('entries', () => {
  const answered = (...statuses: Answer['status'][]) => {
    const sent: unknown[][] = [];
    return {
      sent,
      by: (_: string, entries: unknown[]) => {
        sent.push(entries);
        return Promise.resolve(
          entries.map((_, at) => ({ status: statuses[at] ?? 'CHECKED_IN', checked_in_at: departure })),
        );
      },
    };
  };

  it('have a moment each, and stay the same until they are answered', async () => {
    const first = shelf.note({ trip, passenger_id: 'a' }, now);
    const second = shelf.note({ trip, passenger_id: 'b' }, now);
    expect(first.at).not.toBe(second.at);
    expect(await sendEntries(shelf, () => Promise.reject(new NoAnswer()), 'd')).toBe(false);
    expect(await sendEntries(shelf, () => Promise.reject(new ApiError(503, 'X', '')), 'd')).toBe(false);
    // As after a reload.
    const later = new Shelf('me', kept);
    const { sent, by } = answered();
    expect(await sendEntries(later, by, 'd')).toBe(true);
    expect(sent).toEqual([
      [
        { at: first.at, device_id: 'd', passenger_id: 'a' },
        { at: second.at, device_id: 'd', passenger_id: 'b' },
      ],
    ]);
    expect(hasEntries('me', kept)).toBe(false);
  });

  it('of another account wait for it', async () => {
    shelf.note({ trip, passenger_id: 'a' }, now);
    const { sent, by } = answered();
    await sendEntries(new Shelf('other', kept), by, 'd');
    expect(sent).toEqual([]);
    forgetPassengers(Infinity, kept);
    expect(shelf.entries(trip)).toHaveLength(1);
  });

  it('that were refused stay to be read, and are not sent again', async () => {
    shelf.note({ trip, passenger_id: 'a' }, now);
    shelf.note({ trip, passenger_id: 'b' }, now);
    const { by } = answered('CHECKED_IN', 'CANCELLED');
    await sendEntries(shelf, by, 'd');
    expect(shelf.entries(trip)).toMatchObject([{ passenger_id: 'b', result: { status: 'CANCELLED' } }]);
    const again = answered();
    await sendEntries(shelf, again.by, 'd');
    expect(again.sent).toEqual([]);
    // A refusal is about a passenger: it does not outlive the session.
    forgetPassengers(Infinity, kept);
    expect(shelf.entries(trip)).toEqual([]);
  });

  it('are sent by hundreds, and one that cannot be read keeps no other back', async () => {
    for (let index = 0; index < 102; index += 1) shelf.note({ trip, passenger_id: String(index) }, now);
    const sizes: number[] = [];
    await sendEntries(
      shelf,
      (_, entries) => {
        sizes.push(entries.length);
        if (entries.some(({ passenger_id }) => passenger_id === '101'))
          return Promise.reject(new ApiError(422, 'VALIDATION_FAILED', ''));
        return Promise.resolve(entries.map(() => ({ status: 'CHECKED_IN' as const, checked_in_at: departure })));
      },
      'd',
    );
    expect(sizes).toEqual([100, 2, 1, 1]);
    expect(shelf.entries(trip)).toMatchObject([{ passenger_id: '101', result: { status: 'INVALID' } }]);
  });
});

it('a device has one name', () => {
  expect(deviceId(kept)).toBe(deviceId(kept));
});
