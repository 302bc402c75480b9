import { queryOptions } from '@tanstack/react-query';
import { answered, api, listPage, type Schemas } from '../client';
import { collection } from './lists';

const all = ['refunds'] as const;

/** The least that a page of a list may have: rows about people are counted, and here the number alone is wanted. */
const fewest = 10;

export const refundQueries = {
  all,
  list: collection('/api/v1/admin/refunds', all),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/admin/refunds/{id}', { params: { path: { id } }, signal })),
      staleTime: 0,
    }),
  ofBooking: (booking_id: string) =>
    queryOptions({
      queryKey: [...all, 'of', booking_id],
      queryFn: ({ signal }) => listPage('/api/v1/admin/refunds', { booking_id }, null, signal),
    }),
  ofPayment: (payment_transaction_id: string) =>
    queryOptions({
      queryKey: [...all, 'of-payment', payment_transaction_id],
      queryFn: ({ signal }) => listPage('/api/v1/admin/refunds', { payment_transaction_id }, null, signal),
    }),
  /** How many wait for an approval. What is decided on any page changes it, too. */
  approvals: () =>
    queryOptions({
      queryKey: [...all, 'approvals'],
      queryFn: async ({ signal }) => {
        const query = { needs_approval: true, per_page: fewest };
        return (await answered(api.GET('/api/v1/admin/refunds', { params: { query }, signal }))).meta.total;
      },
      staleTime: 60_000,
      refetchInterval: 300_000,
    }),
};

/** The quote and the preview of a refund. A person orders what the preview says: it is never taken from the cache. */
const previews = ['refund-preview'] as const;
const quotes = ['refund-quote'] as const;

export const previewQueries = {
  all: previews,
  quotes,
  quote: (bookingId: string) =>
    queryOptions({
      queryKey: [...quotes, bookingId],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/bookings/{id}/refund-quote', { params: { path: { id: bookingId } }, signal })),
      staleTime: 0,
    }),
  /** `key` names the parts of the form that decide about money; `query` is what they are in the request. */
  ofForm: (bookingId: string, key: string, query: { refund_type: Schemas['RefundType']; amount?: string }) =>
    queryOptions({
      queryKey: [...previews, bookingId, key],
      queryFn: ({ signal }) =>
        answered(
          api.GET('/api/v1/admin/bookings/{id}/refund-preview', { params: { path: { id: bookingId }, query }, signal }),
        ),
      staleTime: 0,
      gcTime: 0,
      // The policy goes by the hours to departure, and others refund, too.
      refetchInterval: 30_000,
    }),
  /** What a refund that was ordered will do. */
  ordered: (id: string) =>
    queryOptions({
      queryKey: [...previews, 'ordered', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/refunds/{id}/preview', { params: { path: { id } }, signal })),
      gcTime: 0,
    }),
};
