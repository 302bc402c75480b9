import { useInfiniteQuery } from '@tanstack/react-query';
import type { Pages } from '@/api/queries/lists';

interface Options<T> {
  enabled?: boolean;
  /** Whether these rows are looked at again by themselves, and after how many milliseconds. */
  again?: (rows: T[]) => number | false;
}

/** A list within a page, read page by page. `data` has the rows of all that were read, undefined before the first. */
export function usePages<T>({ queryKey, read }: Pages<T>, { enabled = true, again }: Options<T> = {}) {
  const { data, ...list } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next_cursor,
    enabled,
    refetchInterval: (query) => again?.(query.state.data?.pages.flatMap((page) => page.data) ?? []) ?? false,
  });
  return { ...list, data: data?.pages.flatMap((page) => page.data) };
}
