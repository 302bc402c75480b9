import type { Schemas } from '@/api/client';
import { entryKey, keysOf, listKey, readKept, type Kept } from '@/lib/kept';
import { dayIn } from '@/lib/dates';
import type { Key } from './ticket';

export type Passenger = Schemas['CheckInPassenger'];
export type Answer = Pick<Schemas['CheckInResult'], 'status' | 'checked_in_at'>;
export type TripHead = Pick<Schemas['Trip'], 'id' | 'title' | 'origin' | 'destination' | 'departure_at'>;

/** A passenger list as it was read last. */
export interface List {
  account: string;
  trip: TripHead;
  passengers: Passenger[];
  keys: Key[];
  /** When it was read, and until when it is kept, in milliseconds. */
  read: number;
  until: number;
}

/** A passenger who has boarded: what is sent. With a result it was not carried out, and stays until it has been read. */
export interface Entry {
  trip: string;
  at: string;
  passenger_id?: string;
  ticket?: string;
  result?: Answer;
}

const hour = 3_600_000;

/** Until when a trip's list is of use: to the end of its day in Riyadh, and of one that departs late for 6 hours at least. */
export function keptUntil(departure: string): number {
  const at = Date.parse(departure);
  const endOfDay = Date.parse(`${dayIn(new Date(at))}T24:00:00+03:00`);
  return Math.max(endOfDay, at + 6 * hour);
}

const listeners = new Set<() => void>();
let version = 0;

function changed(): void {
  version += 1;
  for (const each of listeners) each();
}

/** For useSyncExternalStore: what is kept changes here, and in other tabs. */
export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', changed);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('storage', changed);
  };
}
export const versionNow = () => version;

/** Where all of it is; a test has one of its own. */
export class Shelf {
  constructor(
    readonly account: string,
    private readonly kept: Kept = localStorage,
  ) {}

  list(trip: string, now = Date.now()): List | null {
    const found = readKept(this.kept, `${listKey}${trip}`) as List | null;
    return found?.account === this.account && found.until >= now ? found : null;
  }

  lists(now = Date.now()): List[] {
    return keysOf(this.kept, listKey)
      .map((key) => this.list(key.slice(listKey.length), now))
      .filter((one) => one !== null);
  }

  keepList(list: Omit<List, 'account' | 'until'>): void {
    const until = keptUntil(list.trip.departure_at);
    if (until < list.read) return;
    // No check-in is ever taken back: one that came while the list was on its way stays.
    const before = new Map(
      this.list(list.trip.id)?.passengers.map(({ passenger_id, checked_in_at }) => [passenger_id, checked_in_at]),
    );
    const passengers = list.passengers.map((one) => ({
      ...one,
      checked_in_at: one.checked_in_at ?? before.get(one.passenger_id) ?? null,
    }));
    this.write(`${listKey}${list.trip.id}`, { ...list, passengers, account: this.account, until } satisfies List);
    changed();
  }

  /** What was noted for a trip, or for all of them, the oldest first. */
  entries(trip?: string): Entry[] {
    return keysOf(this.kept, `${entryKey}${this.account}.${trip === undefined ? '' : `${trip}.`}`)
      .map((key) => readKept(this.kept, key) as Entry | null)
      .filter((one) => one !== null)
      .sort((a, b) => a.at.localeCompare(b.at));
  }

  /** Notes that a passenger has boarded. The moment tells entries of a device apart: no two have the same. */
  note(entry: Omit<Entry, 'at' | 'result'>, now = Date.now()): Entry {
    let moment = now;
    while (this.kept.getItem(this.keyOf({ ...entry, at: new Date(moment).toISOString() })) !== null) moment += 1;
    const noted = { ...entry, at: new Date(moment).toISOString() };
    this.write(this.keyOf(noted), noted);
    changed();
    return noted;
  }

  /** Writes down what the API has answered. */
  answer(entry: Entry, result: Answer): void {
    if (result.status === 'CHECKED_IN') this.kept.removeItem(this.keyOf(entry));
    else this.write(this.keyOf(entry), { ...entry, result });
    this.boarded(entry, result);
    changed();
  }

  drop(entry: Entry): void {
    this.kept.removeItem(this.keyOf(entry));
    changed();
  }

  /** The list says at once who is checked in, before it is read anew. */
  private boarded({ trip, passenger_id }: Entry, { checked_in_at }: Answer): void {
    const list = this.list(trip);
    if (!list || passenger_id === undefined || checked_in_at === null) return;
    const passengers = list.passengers.map((one) =>
      one.passenger_id === passenger_id ? { ...one, checked_in_at } : one,
    );
    this.write(`${listKey}${trip}`, { ...list, passengers });
  }

  private keyOf({ trip, at }: Pick<Entry, 'trip' | 'at'>): string {
    return `${entryKey}${this.account}.${trip}.${at}`;
  }

  private write(key: string, value: object): void {
    this.kept.setItem(key, JSON.stringify(value));
  }
}

const deviceKey = 'rihla.device';

/** Names this browser to the API: the same entry of the same device has one effect. */
export function deviceId(kept: Kept = localStorage): string {
  const known = kept.getItem(deviceKey);
  if (known !== null) return known;
  const id = crypto.randomUUID();
  kept.setItem(deviceKey, id);
  return id;
}
