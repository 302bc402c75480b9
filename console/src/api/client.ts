import createClient, { type FetchResponse } from 'openapi-fetch';
import type { components, paths } from '@/gen/schema';
import { errorOf } from './errors';
import { sessionFetch } from './transport';

export type Schemas = components['schemas'];

/** The API, by the types of its document. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: sessionFetch });

/** The body of an answer, or its error thrown. */
export async function answered<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  call: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>['data']>> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(response, error);
  // A 204 has no body, and its callers look at none.
  return data as NonNullable<FetchResponse<T, O, M>['data']>;
}

/** A page of a collection. */
export interface Page<T> {
  data: T[];
  meta: Schemas['Meta'];
}

type QueryOf<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } }
  ? NonNullable<Q>
  : never;

/** The paths of collections that are read page by page. */
export type ListPath = {
  [P in keyof paths]: [QueryOf<P>] extends [never]
    ? never
    : paths[P] extends { get: { responses: { 200: { content: { 'application/json': Page<unknown> } } } } }
      ? P
      : never;
}[keyof paths];

export type ItemOf<P extends ListPath> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': { data: (infer T)[] } } } } };
}
  ? T
  : never;

/** The names of a collection's filters, `sort` among them: its query parameters in the document. */
export type FilterName<P extends ListPath> = Exclude<keyof QueryOf<P> & string, 'page' | 'per_page' | 'cursor'>;

/**
 * Filters by the names that the document has. They come from the page's address, so that their values are anything that a person can type
 * there: the API judges them, and its answer is shown.
 */
export type FilterValues<F extends string> = Partial<Record<F, string>>;

/** More than these are not for choosing from a list. */
const mostChoices = 1000;

/** All items of a collection, for people to choose from: up to a thousand. */
export async function listAll<P extends ListPath>(
  path: P,
  filters: FilterValues<FilterName<P>>,
  signal: AbortSignal,
  pathParams: Record<string, string> = {},
): Promise<ItemOf<P>[]> {
  const items: ItemOf<P>[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<ItemOf<P>> = await listPage(path, filters, cursor, signal, pathParams);
    items.push(...page.data);
    cursor = page.meta.next_cursor ?? null;
  } while (cursor !== null && items.length < mostChoices);
  return items;
}

/** How many items are read at once; the largest page that the API gives. */
const perPage = 100;

/** Reads a page of a collection. */
export async function listPage<P extends ListPath>(
  path: P,
  filters: FilterValues<FilterName<P>>,
  cursor: string | null,
  signal: AbortSignal,
  pathParams: Record<string, string> = {},
): Promise<Page<ItemOf<P>>> {
  const query = { ...filters, per_page: perPage, ...(cursor === null ? {} : { cursor }) };
  // The document's types of the values are narrower than what a person types; names and answer are those of the document.
  const untyped = api.GET as (path: string, init: object) => Promise<FetchResponse<never, never, 'application/json'>>;
  const { data, error, response } = await untyped(path, { params: { query, path: pathParams }, signal });
  if (!response.ok) throw errorOf(response, error);
  return data as unknown as Page<ItemOf<P>>;
}
