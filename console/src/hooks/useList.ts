import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { FilterValues } from '@/api/client';
import type { Collection } from '@/api/queries/lists';

/** More rows than this are not for reading: filters or an export are. */
export const mostRows = 10_000;

const none: never[] = [];

/** A list that is read page by page behind its cursor, so that no row comes twice however much is added meanwhile. */
export function useList<T, F extends string>({ queryKey, read }: Collection<T, F>, filters: FilterValues<F>) {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, filters],
    queryFn: ({ pageParam, signal }) => read(filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.meta.next_cursor,
    placeholderData: keepPreviousData,
  });

  const pages = query.data?.pages;
  const rows = useMemo<T[]>(() => pages?.flatMap((page) => page.data) ?? none, [pages]);
  const total = pages?.[0]?.meta.total ?? 0;

  const stop = useRef(false);
  const [readingAll, setReadingAll] = useState(false);
  const { fetchNextPage } = query;

  /**
   * Reads on to the end, or to what a page can hold, and gives all rows; null when these are not all. `cancel` ends it with what is
   * there.
   */
  const readAll = useCallback(async () => {
    stop.current = false;
    setReadingAll(true);
    let found: T[] = [];
    let whole = false;
    try {
      let more = true;
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set by `cancel` while a page is read
      while (more && !stop.current) {
        const result = await fetchNextPage();
        found = result.data?.pages.flatMap((page) => page.data) ?? [];
        whole = !result.hasNextPage && !result.isError;
        more = result.hasNextPage && !result.isError && found.length < mostRows;
      }
    } finally {
      setReadingAll(false);
    }
    return whole ? found : null;
  }, [fetchNextPage]);

  const cancel = useCallback(() => {
    stop.current = true;
  }, []);

  return { ...query, rows, total, readAll, readingAll, cancel };
}

export type List<T> = ReturnType<typeof useList<T, string>>;
