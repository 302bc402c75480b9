import { queryOptions } from '@tanstack/react-query';
import { answered, api } from '../client';
import { collection } from './lists';

const all = ['incidents'] as const;

export const incidentQueries = {
  all,
  list: collection('/api/v1/admin/incidents', all),
  one: (id: string) =>
    queryOptions({
      queryKey: [...all, 'one', id],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/admin/incidents/{id}', { params: { path: { id } }, signal })),
    }),
  notes: (id: string) =>
    queryOptions({
      queryKey: [...all, 'notes', id],
      queryFn: ({ signal }) =>
        answered(api.GET('/api/v1/admin/incidents/{id}/notes', { params: { path: { id } }, signal })),
    }),
  /** The members of staff that an incident can be given to. */
  assignees: () =>
    queryOptions({
      queryKey: ['assignees'],
      queryFn: ({ signal }) => answered(api.GET('/api/v1/admin/incident-assignees', { signal })),
      staleTime: 300_000,
    }),
};
