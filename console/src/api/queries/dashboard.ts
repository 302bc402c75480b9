import { queryOptions } from '@tanstack/react-query';
import { answered, api, type FilterValues, type Schemas } from '../client';
import type { Collection } from './lists';

/** Everything below it is read again when the stream of events says so. */
const all = ['dashboard'] as const;

export const dashboardQueries = {
  all,
  cards: (provider: boolean) =>
    queryOptions({
      queryKey: [...all, 'cards'],
      queryFn: ({ signal }) =>
        answered(
          provider ? api.GET('/api/v1/provider/dashboard', { signal }) : api.GET('/api/v1/admin/dashboard', { signal }),
        ),
    }),
  series: (provider: boolean, period: Schemas['CalendarPeriod']) =>
    queryOptions({
      queryKey: [...all, 'series', period],
      queryFn: ({ signal }) => {
        const init = { params: { query: { period } }, signal };
        return answered(
          provider
            ? api.GET('/api/v1/provider/financial-reports/summary', init)
            : api.GET('/api/v1/admin/financial-reports/summary', init),
        );
      },
    }),
  /** How many rows of a list wait for a decision. */
  waits: <F extends string>(name: string, { read }: Collection<unknown, F>, filters: FilterValues<NoInfer<F>>) =>
    queryOptions({
      queryKey: [...all, 'waits', name],
      queryFn: async ({ signal }) => (await read(filters, null, signal)).meta.total,
      refetchInterval: 60_000,
    }),
};
