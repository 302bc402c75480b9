import { queryOptions } from '@tanstack/react-query';
import { answered, api, listAll } from '../client';

const all = ['check-ins'] as const;

/** How long a passenger list is good enough, in milliseconds: reading it counts as reading rows about people. */
const fresh = 300_000;

export const checkInQueries = {
  all,
  /** Published trips that depart between two days, the next one first. */
  trips: (date_from: string, date_to: string) =>
    queryOptions({
      queryKey: [...all, 'trips', date_from, date_to],
      queryFn: ({ signal }) =>
        listAll('/api/v1/provider/trips', { status: 'PUBLISHED', date_from, date_to, sort: 'departure_at' }, signal),
      staleTime: 60_000,
    }),
  trip: (id: string) =>
    queryOptions({
      queryKey: [...all, 'trip', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/trips/{id}', { params: { path: { id } }, signal })),
      staleTime: fresh,
    }),
  passengers: (id: string) =>
    queryOptions({
      queryKey: [...all, 'passengers', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/provider/trips/{id}/check-ins', { params: { path: { id } }, signal })),
      staleTime: fresh,
      refetchInterval: fresh,
    }),
  /** The keys that tickets are signed with. */
  keys: () =>
    queryOptions({
      queryKey: [...all, 'keys'],
      queryFn: ({ signal }) => answered(api.GET('/.well-known/jwks.json', { signal })),
      staleTime: fresh,
    }),
};
