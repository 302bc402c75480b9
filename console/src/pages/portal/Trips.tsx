import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { choiceQueries, trips } from '@/api/queries/resources';
import { useMay } from '@/app/me';
import { Seats } from '@/components/Seats';
import type { Values } from '@/forms/fields';
import { TripType } from '@/gen/enums';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { CalledOffBeside, EndedBeside } from '@/pages/called-off/How';
import { CallOff } from '@/pages/called-off/CallOff';
import { useColumnParts } from '@/shared/columns';
import { Act } from './Act';
import { Moved } from './Moved';
import { Passengers } from './Passengers';
import type { ResourceFields } from './resourceFields';
import { ResourcePage } from './ResourcePage';

type Trip = Schemas['Trip'];

/** Its cancellation is ordered, or done: nothing of it can be changed any more. */
const isCalledOff = ({ status }: Trip) => status === 'CANCELLING' || status === 'CANCELLED';

const isTourism = ({ type }: Values) => type === 'TOURISM';

/** What trips are made of, to choose from. */
function useParts() {
  const buses = useQuery(choiceQueries.buses());
  const hotels = useQuery(choiceQueries.hotels());
  const stops = useQuery(choiceQueries.restStops());
  const named = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name });
  return {
    buses: (buses.data ?? []).map(({ id, plate_number }) => ({ value: id, label: plate_number })),
    hotels: (hotels.data ?? []).map(named),
    stops: (stops.data ?? []).map(named),
  };
}

function useFields(): ResourceFields<Trip, Schemas['TripInput'], Schemas['TripPatch']> {
  const { t, label } = useWords();
  const { choices } = useChoices();
  const parts = useColumnParts();
  const own = useParts();
  const hotel = { name: 'hotel_id', label: t('field.hotel'), kind: 'choice', choices: own.hotels } as const;
  const route = ({ origin, destination }: Trip) => `${origin} – ${destination}`;
  return [
    { name: 'title', label: t('field.title'), required: true, column: { width: 13, sort: 'title' }, fact: false },
    {
      label: t('field.status'),
      column: { ...parts.status(), sort: 'status' },
      fact: (row) => label(row, 'status'),
    },
    {
      name: 'type',
      label: t('field.kind'),
      kind: 'choice',
      required: true,
      choices: choices(TripType),
      fact: (row) => label(row, 'type'),
    },
    { name: 'origin', label: t('field.origin'), required: true, fact: false },
    { name: 'destination', label: t('field.destination'), required: true, fact: false },
    { label: t('field.route'), column: parts.plain('route', t('field.route'), 11, route), fact: route },
    {
      name: 'departure_at',
      label: t('field.departure'),
      kind: 'moment',
      required: true,
      hint: t('time.zone'),
      column: { id: 'departure', width: 10, sort: 'departure_at' },
    },
    { name: 'return_at', label: t('field.return'), kind: 'moment', required: true },
    { name: 'bus_id', label: t('field.bus'), kind: 'choice', required: true, choices: own.buses },
    // Journeys of tourism have a hotel; those of Umrah may have one.
    { ...hotel, required: true, when: isTourism, fact: false },
    { ...hotel, when: (values: Values) => !isTourism(values) },
    { name: 'rest_stop_ids', label: t('nav.rest-stops'), kind: 'choices', choices: own.stops, fact: false },
    {
      label: t('field.seatsLeft'),
      column: {
        id: 'seats',
        header: t('field.seatsLeft'),
        width: 6,
        align: 'end',
        cell: ({ seats_left, capacity }) => <Seats left={seats_left} of={capacity} />,
        text: ({ seats_left, capacity }) => `${seats_left} / ${capacity}`,
      },
      fact: ({ seats_left, capacity }) => <Seats left={seats_left} of={capacity} />,
    },
    {
      name: 'price_per_seat',
      label: t('field.price'),
      kind: 'money',
      required: true,
      column: { id: 'price', width: 7, sort: 'price_per_seat' },
    },
    { name: 'capacity', label: t('field.capacity'), kind: 'number', required: true, fact: false },
  ];
}

const card = { title: ['title'], amount: 'price', badge: 'status', meta: ['departure', 'seats', 'route'] };

export function Component() {
  const { t } = useWords();
  const may = useMay();
  const { choices, states } = useChoices();
  const base = useBaseFilters();
  return (
    <ResourcePage
      name="trips"
      of={trips}
      creates="CreateProviderTrip"
      filters={[
        base.search(t('portal.searchTrip')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('trip') },
        { name: 'type', label: t('field.kind'), kind: 'choice', choices: choices(TripType) },
        // Departures from a day on, or up to one.
        { ...base.from, end: false },
        { ...base.to, end: false },
      ]}
      sort="-departure_at"
      fields={useFields()}
      card={card}
      fresh={{ type: 'TOURISM' }}
      titleOf={({ title }) => title}
      editable={(row) => !isCalledOff(row)}
      actions={(row) => (
        <>
          {row.status === 'PUBLISHED' && may('ListCheckIns') && (
            <Button component={Link} to={`/check-in/${row.id}`} size="xs" variant="default">
              {t('portal.checkIn')}
            </Button>
          )}
          {row.status === 'DRAFT' && (
            <Act
              label={t('portal.publish')}
              what={row.title}
              hint={t('portal.publishHint')}
              changes={[trips.list.queryKey]}
              done={t('done.published', { name: row.title })}
              submit={() => answered(api.POST('/api/v1/trips/{id}/publish', { params: { path: { id: row.id } } }))}
            />
          )}
          <CallOff trip={row} />
        </>
      )}
      afterField={(row, name, { departure_at }) =>
        name === 'departure_at' && <Moved trip={row} departure={departure_at} />
      }
      above={(row) =>
        may('GetTripCancellation') &&
        (isCalledOff(row) ? <CalledOffBeside trip={row} /> : row.has_cancellation && <EndedBeside trip={row} />)
      }
      below={(row) => <Passengers tripId={row.id} />}
    />
  );
}
