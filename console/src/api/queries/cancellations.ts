import { queryOptions } from '@tanstack/react-query';
import { answered, api, listPage } from '../client';
import { collection } from './lists';

const all = ['cancellations'] as const;
const quotes = ['cancellation-quotes'] as const;

/** Requests of customers to cancel passengers of paid bookings. */
export const cancellationQueries = {
  all,
  list: collection('/api/v1/admin/cancellation-requests', all),
  /** The newest ones of all states: for a link to one that the list does not show. */
  newest: () =>
    queryOptions({
      queryKey: [...all, 'newest'],
      queryFn: ({ signal }) => listPage('/api/v1/admin/cancellation-requests', { sort: '-requested_at' }, null, signal),
    }),
  ofBooking: (booking_id: string) =>
    queryOptions({
      queryKey: [...all, 'of', booking_id],
      queryFn: ({ signal }) =>
        listPage('/api/v1/bookings/{id}/cancellation-requests', {}, null, signal, { id: booking_id }),
      staleTime: 0,
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
