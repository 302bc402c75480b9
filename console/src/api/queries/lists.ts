import { queryOptions, skipToken, type QueryKey } from '@tanstack/react-query';
import { listPage, type FilterName, type FilterValues, type ItemOf, type ListPath, type Page } from '../client';

/** A collection of the API, for a page that lists it: what its answers are kept under, its rows, and the names of its filters. */
export interface Collection<T, F extends string> {
  queryKey: QueryKey;
  read: (filters: FilterValues<F>, cursor: string | null, signal: AbortSignal) => Promise<Page<T>>;
}

export const collection = <P extends ListPath>(path: P, queryKey: QueryKey): Collection<ItemOf<P>, FilterName<P>> => ({
  queryKey,
  read: (filters, cursor, signal) => listPage(path, filters, cursor, signal),
});

/** A list within a page, whose filters are part of its key: for usePages. */
export interface Pages<T> {
  queryKey: QueryKey;
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>;
}

/** The rows of a collection that these filters find. */
export const pagesOf = <P extends ListPath>(
  queryKey: QueryKey,
  path: P,
  filters: FilterValues<FilterName<P>>,
  pathParams: Record<string, string> = {},
): Pages<ItemOf<P>> => ({
  queryKey,
  read: (cursor, signal) => listPage(path, filters, cursor, signal, pathParams),
});

/** In place of a row's query, where rows cannot be read by themselves. */
export const noRow = queryOptions<never>({ queryKey: ['no-row'], queryFn: skipToken });
