import { queryOptions } from '@tanstack/react-query';
import { answered, api, listPage } from '../client';

const all = ['company'] as const;

/** The company of the signed-in person. */
export const companyQueries = {
  all,
  own: () =>
    queryOptions({
      queryKey: [...all, 'own'],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/company', { signal })),
    }),
  staff: () =>
    queryOptions({
      queryKey: [...all, 'staff'],
      queryFn: ({ signal }) => listPage('/api/v1/provider/staff', { sort: 'name' }, null, signal),
    }),
};
