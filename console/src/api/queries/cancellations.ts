import { queryOptions } from '@tanstack/react-query';
import { answered, api } from '../client';
import { collection } from './lists';

const all = ['cancellations'] as const;
const quotes = ['cancellation-quotes'] as const;

/** Requests of customers to cancel passengers of paid bookings. */
export const cancellationQueries = {
  all,
  list: collection('/api/v1/admin/cancellation-requests', all),
  /** One by itself, with what its approval would do. A person orders what it says: it is never taken from the cache. */
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/cancellation-requests/{id}', { params: { path: { id } }, signal })),
      staleTime: 0,
      gcTime: 0,
      // Others decide, and a trip that is moved gives more.
      refetchInterval: ({ state }) => (state.data?.data.status === 'REQUESTED' ? 30_000 : false),
    }),
};

/** What a cancellation of these passengers would come to now. A person orders what it says: it is never taken from the cache. */
export const cancellationQuotes = {
  all: quotes,
  of: (bookingId: string, passengerIds: string[]) =>
    queryOptions({
      queryKey: [...quotes, bookingId, passengerIds],
      queryFn: ({ signal }) =>
        answered(
          api.GET('/api/v1/bookings/{id}/cancellation-quote', {
            params: { path: { id: bookingId }, query: { passenger_ids: passengerIds.join(',') } },
            signal,
          }),
        ),
      staleTime: 0,
      gcTime: 0,
      // The policy goes by the hours to departure, and others refund, too.
      refetchInterval: 30_000,
    }),
};
