/**
 * What this browser keeps for check-in without a network: passenger lists, which are personal and go with the trip and the session, and
 * check-ins that are not sent yet, which stay until they are.
 */

/** Before the id of a trip. */
export const listKey = 'rihla.passengers.';
/** Before the id of the account, that of the trip, and the moment. */
export const entryKey = 'rihla.check-in.';

export type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

export const keysOf = (kept: Kept, start: string): string[] =>
  Array.from({ length: kept.length }, (_, index) => kept.key(index)).filter(
    (key): key is string => key?.startsWith(start) === true,
  );

/** What stands under a key; what cannot be read is as if it were not there. */
export function readKept(kept: Kept, key: string): unknown {
  try {
    return JSON.parse(kept.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** Forgets the names of passengers: all of them when the session ends, else those of trips that are over. */
export function forgetPassengers(now = Infinity, kept: Kept = localStorage): void {
  for (const key of keysOf(kept, listKey)) {
    if (((readKept(kept, key) as { until: number } | null)?.until ?? 0) < now) kept.removeItem(key);
  }
  if (now !== Infinity) return;
  // An answer that was refused says who it was about; what is not answered yet is still to be sent.
  for (const key of keysOf(kept, entryKey)) {
    if ((readKept(kept, key) as { result?: object } | null)?.result) kept.removeItem(key);
  }
}

export const hasEntries = (account: string, kept: Kept = localStorage) =>
  keysOf(kept, `${entryKey}${account}.`).length > 0;
