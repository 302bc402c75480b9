import { useQuery } from '@tanstack/react-query';
import { answered, api, listAll, listPage, type Schemas } from '@/api/client';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { Seats } from '@/components/Seats';
import { When } from '@/components/When';
import { bodyOf, type Field } from '@/forms/fields';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices, words } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { localOf } from '@/lib/dates';
import { useColumnParts } from '@/shared/columns';
import { Act } from './Act';
import { Passengers } from './Passengers';
import { ResourcePage } from './ResourcePage';

type Trip = Schemas['Trip'];
type Input = Schemas['TripInput'];

/** What trips are made of, to choose from. */
function useParts() {
  const read = (path: '/api/v1/provider/buses' | '/api/v1/provider/hotels' | '/api/v1/provider/rest-stops') => ({
    queryKey: [path, 'choices'],
    queryFn: ({ signal }: { signal: AbortSignal }) => listAll(path, { status: 'ACTIVE' }, signal),
    staleTime: 60_000,
  });
  const buses = useQuery(read('/api/v1/provider/buses'));
  const hotels = useQuery(read('/api/v1/provider/hotels'));
  const stops = useQuery(read('/api/v1/provider/rest-stops'));
  const choice = (row: { id: string; name?: string; plate_number?: string }) => ({
    value: row.id,
    label: row.name ?? row.plate_number ?? row.id,
  });
  return {
    buses: (buses.data ?? []).map(choice),
    hotels: (hotels.data ?? []).map(choice),
    stops: (stops.data ?? []).map(choice),
  };
}

export function Component() {
  const { t, label } = useWords();
  const { choices, states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const own = useParts();
  const type = choices(words.tripType);
  const hotel: Field = { name: 'hotel_id', label: t('field.hotel'), kind: 'choice', choices: own.hotels };
  const fields: Field[] = [
    { name: 'title', label: t('field.title'), required: true },
    { name: 'type', label: t('field.kind'), kind: 'choice', required: true, choices: type },
    { name: 'origin', label: t('field.origin'), required: true },
    { name: 'destination', label: t('field.destination'), required: true },
    { name: 'departure_at', label: t('field.departure'), kind: 'moment', required: true, hint: t('time.zone') },
    { name: 'return_at', label: t('field.return'), kind: 'moment', required: true },
    { name: 'bus_id', label: t('field.bus'), kind: 'choice', required: true, choices: own.buses },
    // Journeys of tourism have a hotel; those of Umrah may have one.
    { ...hotel, required: true, when: ({ type: chosen }) => chosen === 'TOURISM' },
    { ...hotel, when: ({ type: chosen }) => chosen !== 'TOURISM' },
    { name: 'rest_stop_ids', label: t('nav.rest-stops'), kind: 'choices', choices: own.stops },
    { name: 'price_per_seat', label: t('field.price'), kind: 'money', required: true },
    { name: 'capacity', label: t('field.capacity'), kind: 'number', required: true },
  ];
  return (
    <ResourcePage<Trip>
      name="trips"
      creates="CreateProviderTrip"
      filters={[
        base.search(t('portal.searchTrip')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('trip') },
        { name: 'type', label: t('field.kind'), kind: 'choice', choices: type },
        // Departures from a day on, or up to one.
        { ...base.from, end: false },
        { ...base.to, end: false },
      ]}
      columns={[
        parts.plain('title', t('field.title'), 13, ({ title }) => title, { sort: 'title' }),
        { ...parts.status(), sort: 'status' },
        parts.plain('route', t('field.route'), 11, ({ origin, destination }) => `${origin} – ${destination}`),
        {
          id: 'departure',
          header: t('field.departure'),
          width: 10,
          sort: 'departure_at',
          cell: ({ departure_at }) => <When at={departure_at} />,
          text: ({ departure_at }) => departure_at,
        },
        {
          id: 'seats',
          header: t('field.seatsLeft'),
          width: 6,
          align: 'end',
          cell: ({ seats_left, capacity }) => <Seats left={seats_left} of={capacity} />,
          text: ({ seats_left, capacity }) => `${seats_left} / ${capacity}`,
        },
        {
          id: 'price',
          header: t('field.price'),
          width: 7,
          align: 'end',
          sort: 'price_per_seat',
          cell: ({ price_per_seat, currency }) => <Money amount={price_per_seat} currency={currency} />,
          text: ({ price_per_seat }) => price_per_seat.toFixed(2),
        },
      ]}
      read={(filters, cursor, signal) => listPage('/api/v1/provider/trips', filters, cursor, signal)}
      sort="-departure_at"
      fields={fields}
      fresh={{ type: 'TOURISM' }}
      titleOf={({ title }) => title}
      valuesOf={(row) => ({
        title: row.title,
        type: row.type,
        origin: row.origin,
        destination: row.destination,
        departure_at: localOf(row.departure_at),
        return_at: row.return_at ? localOf(row.return_at) : '',
        bus_id: row.bus_id,
        hotel_id: row.hotel_id ?? '',
        rest_stop_ids: row.rest_stop_ids.join(','),
        price_per_seat: row.price_per_seat.toFixed(2),
        capacity: String(row.capacity),
      })}
      create={(values, query) =>
        answered(api.POST('/api/v1/provider/trips', { params: { query }, body: bodyOf<Input>(fields, values) }))
      }
      change={(id, values, changed) =>
        answered(
          api.PATCH('/api/v1/provider/trips/{id}', {
            params: { path: { id } },
            body: bodyOf<Schemas['TripPatch']>(changed, values),
          }),
        )
      }
      remove={(id) => answered(api.DELETE('/api/v1/provider/trips/{id}', { params: { path: { id } } }))}
      editable={({ status }) => status !== 'CANCELLED'}
      actions={(row) =>
        row.status === 'DRAFT' && (
          <Act
            label={t('portal.publish')}
            what={row.title}
            hint={t('portal.publishHint')}
            changes={['trips']}
            done={t('done.published', { name: row.title })}
            submit={() => answered(api.POST('/api/v1/trips/{id}/publish', { params: { path: { id: row.id } } }))}
          />
        )
      }
      facts={(row) => (
        <>
          <Facts
            of={[
              [t('field.status'), label(row, 'status')],
              [t('field.kind'), label(row, 'type')],
              [t('field.route'), `${row.origin} – ${row.destination}`],
              [t('field.departure'), <When key="v" at={row.departure_at} />],
              [t('field.return'), row.return_at && <When key="v" at={row.return_at} />],
              [
                t('field.bus'),
                own.buses.find(({ value }) => value === row.bus_id)?.label ?? <CopyId key="v" id={row.bus_id} />,
              ],
              [
                t('field.hotel'),
                row.hotel_id &&
                  (own.hotels.find(({ value }) => value === row.hotel_id)?.label ?? (
                    <CopyId key="v" id={row.hotel_id} />
                  )),
              ],
              [t('field.seatsLeft'), <Seats key="v" left={row.seats_left} of={row.capacity} />],
              [t('field.price'), <Money key="v" amount={row.price_per_seat} currency={row.currency} />],
              [t('field.id'), <CopyId key="v" id={row.id} whole />],
            ]}
          />
          <Passengers tripId={row.id} />
        </>
      )}
    />
  );
}
