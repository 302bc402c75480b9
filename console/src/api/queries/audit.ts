import { queryOptions } from '@tanstack/react-query';
import { listPage } from '../client';
import { collection } from './lists';

const all = ['audit'] as const;

export const auditQueries = {
  all,
  list: collection('/api/v1/admin/audit-logs', all),
  ofProvider: (id: string) =>
    queryOptions({
      queryKey: [...all, 'of', id],
      queryFn: ({ signal }) =>
        listPage('/api/v1/admin/audit-logs', { entity: 'provider', entity_id: id }, null, signal),
    }),
};
