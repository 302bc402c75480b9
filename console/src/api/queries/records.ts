import { queryOptions } from '@tanstack/react-query';
import { answered, api, listPage, type FilterName, type FilterValues } from '../client';
import { collection, pagesOf } from './lists';

const all = ['records'] as const;

const path = '/api/v1/admin/financial-records';
export type RecordFilters = FilterValues<FilterName<typeof path>>;

/** Ledger entries, and what providers are owed by them. */
export const recordQueries = {
  all,
  list: collection(path, all),
  /** Those of the own provider company. */
  own: collection('/api/v1/provider/financial-records', all),
  /** Provider companies with their balances, as a page of its own. */
  companies: collection('/api/v1/admin/provider-balances', [...all, 'companies']),
  ofBooking: (booking_id: string) =>
    queryOptions({
      queryKey: [...all, 'of', booking_id],
      queryFn: ({ signal }) => listPage(path, { booking_id }, null, signal),
    }),
  /** What all entries that the filters find come to. */
  totals: (query: Record<string, string>) =>
    queryOptions({
      queryKey: [...all, 'totals', query],
      queryFn: ({ signal }) =>
        // The filters are what a person typed: the API judges them.
        answered(api.GET('/api/v1/admin/financial-records/totals', { params: { query }, signal })),
    }),
  /** What a provider is owed, at a moment or, with an empty one, now. Without an id, the own company. */
  balance: (providerId: string | undefined, as_of: string) =>
    queryOptions({
      queryKey: [...all, 'balance', providerId ?? 'own', as_of],
      queryFn: ({ signal }) => {
        const query = as_of === '' ? {} : { as_of };
        return answered(
          providerId === undefined
            ? api.GET('/api/v1/provider/balance', { params: { query }, signal })
            : api.GET('/api/v1/admin/providers/{id}/balance', { params: { path: { id: providerId }, query }, signal }),
        );
      },
    }),
  balances: (filters: FilterValues<FilterName<'/api/v1/admin/provider-balances'>>) =>
    pagesOf([...all, 'balances', filters], '/api/v1/admin/provider-balances', filters),
};
