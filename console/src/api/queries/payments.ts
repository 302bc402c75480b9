import { queryOptions } from '@tanstack/react-query';
import { answered, api, listPage } from '../client';
import { collection } from './lists';

const all = ['payments'] as const;

export const paymentQueries = {
  all,
  list: collection('/api/v1/admin/payment-transactions', all),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/payment-transactions/{id}', { params: { path: { id } }, signal })),
    }),
  ofBooking: (booking_id: string) =>
    queryOptions({
      queryKey: [...all, 'of', booking_id],
      queryFn: ({ signal }) => listPage('/api/v1/admin/payment-transactions', { booking_id }, null, signal),
    }),
  ofCampaign: (ad_campaign_id: string) =>
    queryOptions({
      queryKey: [...all, 'of-campaign', ad_campaign_id],
      queryFn: ({ signal }) => listPage('/api/v1/admin/payment-transactions', { ad_campaign_id }, null, signal),
      // A person orders what it says.
      staleTime: 0,
    }),
  /** The ways to pay that are offered now. */
  methods: () =>
    queryOptions({
      queryKey: ['methods'],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/payment-methods', { signal })),
    }),
};
