import { queryOptions } from '@tanstack/react-query';
import { answered, api, type Schemas } from '../client';
import { collection } from './lists';

const all = ['trip-cancellations'] as const;

/** The least that a page of a list may have: only the total is read. */
const fewest = 10;

/** How soon it is read again, in milliseconds; false once nothing changes by itself any more. */
function again(found: Schemas['TripCancellation'] | undefined): number | false {
  if (!found) return false;
  // Others decide.
  if (found.needs_approval) return 30_000;
  if (found.status === 'CANCELLING') return 2_000;
  // Gateways decide within minutes, and manual payouts within days.
  return found.status === 'CANCELLED' && found.refunds_pending > 0 ? 10_000 : false;
}

/** Trips that are called off, by the trip. */
export const tripCancellationQueries = {
  all,
  list: collection('/api/v1/admin/trip-cancellations', all),
  /** How many wait for an approval. */
  approvals: () =>
    queryOptions({
      queryKey: [...all, 'approvals'],
      queryFn: async ({ signal }) => {
        const query = { needs_approval: true, per_page: fewest };
        return (await answered(api.GET('/api/v1/admin/trip-cancellations', { params: { query }, signal }))).meta.total;
      },
      staleTime: 60_000,
      refetchInterval: 300_000,
    }),
  /** The newest cancellation of the trip, and how far it is. */
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/provider/trips/{id}/cancellation', { params: { path: { id } }, signal })),
      staleTime: 0,
      refetchInterval: ({ state }) => again(state.data?.data),
    }),
  /** The same where most trips have none: nothing is found then, and that is no error. */
  newestOf: (id: string) =>
    queryOptions({
      queryKey: [...all, 'newest', id],
      queryFn: async ({ signal }) => {
        const query = { trip_id: id, per_page: fewest };
        return (
          (await answered(api.GET('/api/v1/admin/trip-cancellations', { params: { query }, signal }))).data[0] ?? null
        );
      },
      refetchInterval: ({ state }) => again(state.data ?? undefined),
    }),
  /** What calling the trip off would come to now. A person orders what it says: it is never taken from the cache. */
  preview: (id: string) =>
    queryOptions({
      queryKey: [...all, 'preview', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/provider/trips/{id}/cancel-preview', { params: { path: { id } }, signal })),
      staleTime: 0,
      gcTime: 0,
      // Customers go on booking and paying.
      refetchInterval: 30_000,
    }),
};
