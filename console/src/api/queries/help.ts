import { queryOptions } from '@tanstack/react-query';

/** A page's help, which is a file of the console. */
export const helpOf = (page: string, language: string, load: (() => Promise<string>) | undefined) =>
  queryOptions({
    queryKey: ['help', page, language],
    queryFn: () => load?.() ?? Promise.resolve(''),
    staleTime: Infinity,
  });
