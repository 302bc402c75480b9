import { queryOptions } from '@tanstack/react-query';
import { answered, api } from '../client';

/** Changes of a trip's departure. A person orders what the preview says: it is never taken from the cache. */
export const tripMoves = {
  preview: (id: string, departure_at: string) =>
    queryOptions({
      queryKey: ['trip-moves', id, departure_at],
      queryFn: ({ signal }) =>
        answered(
          api.GET('/api/v1/provider/trips/{id}/reschedule-preview', {
            params: { path: { id }, query: { departure_at } },
            signal,
          }),
        ),
      staleTime: 0,
      gcTime: 0,
      // Customers go on booking and paying.
      refetchInterval: 30_000,
    }),
};
