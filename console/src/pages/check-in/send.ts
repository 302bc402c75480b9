import { answered, api, type Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { batchesOf } from '@/lib/batches';
import { grouped } from '@/lib/grouped';
import { deviceId, Shelf, type Answer, type Entry } from './kept';

/** The most entries of a request. */
const most = 100;

export type Post = (trip: string, entries: Schemas['CheckInReport'][]) => Promise<Answer[]>;

const post: Post = async (id, body) =>
  (await answered(api.POST('/api/v1/provider/trips/{id}/check-ins', { params: { path: { id } }, body }))).data;

/** The answer of an entry that the API will never take: its trip is gone, or not of this company. */
const never: Answer = { status: 'INVALID', checked_in_at: null };

async function sendSome(shelf: Shelf, trip: string, entries: Entry[], device: string, by: Post): Promise<void> {
  try {
    const body = entries.map(({ at, passenger_id, ticket }) => ({
      at,
      device_id: device,
      ...(passenger_id !== undefined && { passenger_id }),
      ...(ticket !== undefined && { ticket }),
    }));
    const answers = await by(trip, body);
    entries.forEach((entry, index) => {
      const answer = answers[index];
      if (answer) shelf.answer(entry, answer);
    });
  } catch (error) {
    if (!(error instanceof ApiError) || ![404, 422].includes(error.status)) throw error;
    // One that the API cannot read keeps none of the others back.
    if (entries.length > 1) for (const each of entries) await sendSome(shelf, trip, [each], device, by);
    else for (const each of entries) shelf.answer(each, never);
  }
}

/**
 * Sends what is noted and not answered yet. Without an answer it stays for the next time: the same moment of the same device is the same
 * check-in, however often it is sent. False: something is left.
 */
export async function sendEntries(shelf: Shelf, by: Post = post, device = deviceId()): Promise<boolean> {
  const waiting = grouped(
    shelf.entries().filter(({ result }) => !result),
    ({ trip }) => trip,
  );
  try {
    for (const [trip, entries] of waiting)
      for (const some of batchesOf(entries, most)) await sendSome(shelf, trip, some, device, by);
    return true;
  } catch {
    return false;
  }
}

/** One tab sends at a time; what another one has sent meanwhile is not sent again. */
export const send = async (account: string): Promise<boolean> =>
  navigator.locks.request('rihla-check-ins', () => sendEntries(new Shelf(account)));
