import { queryOptions } from '@tanstack/react-query';
import { answered, api, listAll, listPage } from '../client';
import { collection } from './lists';

const all = ['providers'] as const;

export const providerQueries = {
  all,
  list: collection('/api/v1/admin/providers', all),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/admin/providers/{id}', { params: { path: { id } }, signal })),
    }),
  staff: (id: string) =>
    queryOptions({
      queryKey: [...all, 'staff', id],
      queryFn: ({ signal }) => listPage('/api/v1/admin/providers/{id}/staff', {}, null, signal, { id }),
    }),
  /** All of them by name, from the list that the role may read. */
  choices: (path: '/api/v1/admin/providers' | '/api/v1/admin/provider-balances') =>
    queryOptions({
      queryKey: [...all, 'choices'],
      queryFn: ({ signal }): Promise<{ id: string; name: string }[]> => listAll(path, { sort: 'name' }, signal),
      staleTime: 300_000,
    }),
};
