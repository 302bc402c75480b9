import { QueryClient } from '@tanstack/react-query';
import { NoAnswer } from '@/api/errors';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Without a connection a request fails and says so; waiting for one would show a skeleton for ever.
      networkMode: 'always',
      // What the API refused it refuses again; a connection that was lost may be back.
      retry: (failures, error) => error instanceof NoAnswer && failures < 2,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
