import { queryOptions } from '@tanstack/react-query';
import { getMe, listSessions, singleSignOn } from '../identity';

const all = ['me'] as const;

export const meQueries = {
  all,
  me: () => queryOptions({ queryKey: all, queryFn: ({ signal }) => getMe(signal), staleTime: 60_000, retry: false }),
  sessions: () => queryOptions({ queryKey: ['sessions'], queryFn: ({ signal }) => listSessions(signal) }),
  /** Whether people can sign in with a company account. */
  singleSignOn: () => queryOptions({ queryKey: ['sso'], queryFn: singleSignOn, retry: false, staleTime: Infinity }),
};
