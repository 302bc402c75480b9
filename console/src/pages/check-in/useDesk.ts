import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import { checkInQueries } from '@/api/queries/check-ins';
import { useMe } from '@/app/me';
import { judge, withEntries, type Found, type Outcome, type Verdict } from './judge';
import { Shelf, subscribe, versionNow, type Entry } from './kept';
import { send } from './send';
import { isSigned, readTicket } from './ticket';

/** How long an answer is waited for while the passenger stands there, in milliseconds. */
const patience = 5_000;

const none: never[] = [];

/** Without an answer it is said what this telephone knows, and sent later. */
async function answered(shelf: Shelf, entry: Entry, known: Outcome): Promise<Outcome> {
  const late = new Promise<false>((resolve) => {
    window.setTimeout(resolve, patience, false);
  });
  const done = navigator.onLine && (await Promise.race([send(shelf.account), late]));
  const left = shelf.entries(entry.trip).find(({ at }) => at === entry.at);
  if (left?.result) {
    // It is said now, and not once more in the list of what was refused later.
    shelf.drop(left);
    const verdict: Verdict = left.result.status;
    return { ...known, verdict, at: left.result.checked_in_at };
  }
  return done && !left ? { ...known, verdict: 'CHECKED_IN' } : known;
}

/** A trip's passenger list as it was read last, what is not sent yet, and how a passenger is checked in. */
export function useDesk(tripId: string) {
  const { id: account } = useMe();
  const shelf = useMemo(() => new Shelf(account), [account]);
  const queries = useQueryClient();
  const version = useSyncExternalStore(subscribe, versionNow);
  const trip = useQuery(checkInQueries.trip(tripId));
  const read = useQuery(checkInQueries.passengers(tripId));
  const keys = useQuery(checkInQueries.keys());

  const head = trip.data?.data;
  const passengersRead = read.data?.data;
  const keysRead = keys.data?.keys;
  useEffect(() => {
    if (!head || !passengersRead) return;
    const { id, title, origin, destination, departure_at } = head;
    shelf.keepList({
      trip: { id, title, origin, destination, departure_at },
      passengers: passengersRead,
      keys: (keysRead ?? shelf.list(id)?.keys ?? none).map(({ kid, x, use }) => ({ kid, x, use })),
      read: read.dataUpdatedAt,
    });
  }, [shelf, head, passengersRead, keysRead, read.dataUpdatedAt]);

  // eslint-disable-next-line react-hooks/exhaustive-deps -- the version says that what is kept has changed
  const list = useMemo(() => shelf.list(tripId), [shelf, tripId, version]);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the same
  const entries = useMemo(() => shelf.entries(tripId), [shelf, tripId, version]);
  // A trip that is over is kept nowhere: its list is what was just read.
  const raw = list?.passengers ?? passengersRead;
  const passengers = useMemo(() => raw && withEntries(raw, entries), [raw, entries]);
  const reread = useCallback(
    () => queries.invalidateQueries({ queryKey: checkInQueries.passengers(tripId).queryKey }),
    [queries, tripId],
  );

  const report = useCallback(
    async (given: { code: string } | { passenger: string }): Promise<Outcome> => {
      const kept = shelf.list(tripId);
      const known = kept?.passengers ?? raw ?? none;
      let found: Found;
      if ('code' in given) {
        const ticket = readTicket(given.code);
        found = { ticket, signed: ticket && (await isSigned(given.code, kept?.keys ?? keysRead ?? none)) };
      } else {
        const passenger = known.find(({ passenger_id }) => passenger_id === given.passenger);
        found = passenger ? { passenger } : { ticket: null, signed: null };
      }
      const outcome = judge(found, {
        trip: tripId,
        passengers: known,
        entries: shelf.entries(tripId),
        now: Date.now(),
      });
      if (outcome.verdict !== 'SAVED' && outcome.verdict !== 'UNLISTED') return outcome;
      const by = 'ticket' in found ? found.ticket?.passenger : found.passenger.passenger_id;
      // A code has a name in it: it is kept where the API has to judge it, and else the passenger's id alone.
      const sure = outcome.verdict === 'SAVED' && (!('ticket' in found) || found.signed === true);
      const entry = shelf.note({
        trip: tripId,
        ...(by !== undefined && { passenger_id: by }),
        ...(!sure && 'code' in given && { ticket: given.code }),
      });
      const said = await answered(shelf, entry, outcome);
      // Reading the list counts as reading rows about people: not for each passenger whom it has.
      if (!kept || !['CHECKED_IN', outcome.verdict].includes(said.verdict) || outcome.verdict === 'UNLISTED')
        void reread();
      return said;
    },
    [shelf, tripId, raw, keysRead, reread],
  );

  return {
    trip: list?.trip ?? head,
    passengers,
    /** When the list was read; it may be hours ago. */
    readAt: list?.read ?? read.dataUpdatedAt,
    waiting: entries.filter(({ result }) => !result),
    refused: entries.filter(({ result }) => result),
    drop: (entry: Entry) => {
      shelf.drop(entry);
    },
    report,
    reread,
    reading: read.isFetching,
    // What is kept is shown, whatever became of reading it anew.
    asked: {
      data: passengers,
      error: passengers ? null : (read.error ?? trip.error),
      isPending: read.isPending,
      refetch: read.refetch,
    },
  };
}

export type Desk = ReturnType<typeof useDesk>;
