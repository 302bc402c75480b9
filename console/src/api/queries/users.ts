import { queryOptions } from '@tanstack/react-query';
import { answered, api } from '../client';
import { collection } from './lists';

const all = ['users'] as const;

export const userQueries = {
  all,
  list: collection('/api/v1/admin/users', all),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/admin/users/{id}', { params: { path: { id } }, signal })),
    }),
};
