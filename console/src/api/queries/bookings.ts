import { queryOptions } from '@tanstack/react-query';
import { answered, api, listAll } from '../client';
import { collection } from './lists';

const all = ['bookings'] as const;

/** The least that a page of a list may have: rows about people are counted. */
const fewest = 10;

export const bookingQueries = {
  all,
  list: collection('/api/v1/admin/bookings', all),
  /** What a search finds: the first of them, and how many there are. */
  found: (search: string) =>
    answered(api.GET('/api/v1/admin/bookings', { params: { query: { search, per_page: fewest } } })),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/bookings/{id}', { params: { path: { id } }, signal })),
    }),
  /** What staff have noted about it, newest first. */
  notes: (id: string) =>
    queryOptions({
      queryKey: [...all, 'notes', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/bookings/{id}/notes', { params: { path: { id } }, signal })),
    }),
  /** Who travels on a trip, for the provider that runs it. */
  ofTrip: (id: string, status: string) =>
    queryOptions({
      queryKey: [...all, 'of-trip', id, status],
      // All of them: they are shown in an order of the console's own.
      queryFn: ({ signal }) =>
        listAll('/api/v1/provider/trips/{id}/bookings', status === '' ? {} : { status }, signal, { id }),
    }),
  /** The trip of a booking, from the public catalogue. */
  trip: (id: string) =>
    queryOptions({
      queryKey: ['trip', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/trips/{id}', { params: { path: { id } }, signal })),
      staleTime: 300_000,
    }),
};
