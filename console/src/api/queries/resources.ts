import { queryOptions, type QueryKey } from '@tanstack/react-query';
import { answered, api, listAll, type FilterName, type ListPath, type ItemOf, type Schemas } from '../client';
import { collection, type Collection } from './lists';

/** What a provider has: the list, and what adds, changes and removes one. `B` is the body of a new one, `P` that of a change. */
export interface Resource<T, B, P, F extends string> {
  list: Collection<T, F>;
  one: (id: string) => { queryKey: QueryKey; queryFn: (context: { signal: AbortSignal }) => Promise<{ data: T }> };
  /** `query` names the provider that administrators make it for. */
  create: (body: B, query: { provider_id?: string }) => Promise<{ data: T }>;
  change: (id: string, body: P) => Promise<{ data: T }>;
  remove: (id: string) => Promise<unknown>;
}

/** The resource behind a path, with these bodies. */
type At<L extends ListPath, B, P> = Resource<ItemOf<L>, B, P, FilterName<L>>;

const keys = {
  buses: ['buses'],
  hotels: ['hotels'],
  restStops: ['rest-stops'],
  trips: ['trips'],
  campaigns: ['campaigns'],
} as const;

const pathOf = (id: string) => ({ params: { path: { id } } });

export const buses: At<'/api/v1/provider/buses', Schemas['BusInput'], Schemas['BusPatch']> = {
  list: collection('/api/v1/provider/buses', keys.buses),
  one: (id) => ({
    queryKey: [...keys.buses, 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/buses/{id}', { ...pathOf(id), signal })),
  }),
  create: (body, query) => answered(api.POST('/api/v1/provider/buses', { params: { query }, body })),
  change: (id, body) => answered(api.PATCH('/api/v1/provider/buses/{id}', { ...pathOf(id), body })),
  remove: (id) => answered(api.DELETE('/api/v1/provider/buses/{id}', pathOf(id))),
};

export const hotels: At<'/api/v1/provider/hotels', Schemas['HotelInput'], Schemas['HotelPatch']> = {
  list: collection('/api/v1/provider/hotels', keys.hotels),
  one: (id) => ({
    queryKey: [...keys.hotels, 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/hotels/{id}', { ...pathOf(id), signal })),
  }),
  create: (body, query) => answered(api.POST('/api/v1/provider/hotels', { params: { query }, body })),
  change: (id, body) => answered(api.PATCH('/api/v1/provider/hotels/{id}', { ...pathOf(id), body })),
  remove: (id) => answered(api.DELETE('/api/v1/provider/hotels/{id}', pathOf(id))),
};

export const restStops: At<'/api/v1/provider/rest-stops', Schemas['RestStopInput'], Schemas['RestStopPatch']> = {
  list: collection('/api/v1/provider/rest-stops', keys.restStops),
  one: (id) => ({
    queryKey: [...keys.restStops, 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/rest-stops/{id}', { ...pathOf(id), signal })),
  }),
  create: (body, query) => answered(api.POST('/api/v1/provider/rest-stops', { params: { query }, body })),
  change: (id, body) => answered(api.PATCH('/api/v1/provider/rest-stops/{id}', { ...pathOf(id), body })),
  remove: (id) => answered(api.DELETE('/api/v1/provider/rest-stops/{id}', pathOf(id))),
};

export const trips: At<'/api/v1/provider/trips', Schemas['TripInput'], Schemas['TripPatch']> = {
  list: collection('/api/v1/provider/trips', keys.trips),
  one: (id) => ({
    queryKey: [...keys.trips, 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/trips/{id}', { ...pathOf(id), signal })),
  }),
  create: (body, query) => answered(api.POST('/api/v1/provider/trips', { params: { query }, body })),
  change: (id, body) => answered(api.PATCH('/api/v1/provider/trips/{id}', { ...pathOf(id), body })),
  remove: (id) => answered(api.DELETE('/api/v1/provider/trips/{id}', pathOf(id))),
};

export const campaigns: At<'/api/v1/provider/ad-campaigns', Schemas['AdCampaignInput'], Schemas['AdCampaignPatch']> = {
  list: collection('/api/v1/provider/ad-campaigns', keys.campaigns),
  one: (id) => ({
    queryKey: [...keys.campaigns, 'one', id],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/provider/ad-campaigns/{id}', { ...pathOf(id), signal })),
  }),
  create: (body, query) => answered(api.POST('/api/v1/provider/ad-campaigns', { params: { query }, body })),
  change: (id, body) => answered(api.PATCH('/api/v1/provider/ad-campaigns/{id}', { ...pathOf(id), body })),
  remove: (id) => answered(api.DELETE('/api/v1/provider/ad-campaigns/{id}', pathOf(id))),
};

/** What trips and campaigns are made of, to choose from. */
export const choiceQueries = {
  buses: () =>
    queryOptions({
      queryKey: [...keys.buses, 'choices'],
      queryFn: ({ signal }) => listAll('/api/v1/provider/buses', { status: 'ACTIVE' }, signal),
      staleTime: 60_000,
    }),
  hotels: () =>
    queryOptions({
      queryKey: [...keys.hotels, 'choices'],
      queryFn: ({ signal }) => listAll('/api/v1/provider/hotels', { status: 'ACTIVE' }, signal),
      staleTime: 60_000,
    }),
  restStops: () =>
    queryOptions({
      queryKey: [...keys.restStops, 'choices'],
      queryFn: ({ signal }) => listAll('/api/v1/provider/rest-stops', { status: 'ACTIVE' }, signal),
      staleTime: 60_000,
    }),
  trips: () =>
    queryOptions({
      queryKey: [...keys.trips, 'choices'],
      queryFn: ({ signal }) => listAll('/api/v1/provider/trips', { status: 'PUBLISHED' }, signal),
    }),
};
