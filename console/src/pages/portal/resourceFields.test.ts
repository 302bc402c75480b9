import { expect, it } from 'vitest';
import { columnsOf, factsOf, formOf, type ResourceFields } from './resourceFields';

interface Input {
  title: string;
  price: number;
  tags: string[];
  bus_id: string;
  driver: { phone: string | null };
}

interface Shown extends Input {
  id: string;
  provider_id: string;
  seats: number;
}

const fields: ResourceFields<Shown, Input, Partial<Input>> = [
  { name: 'title', label: 'Title', column: { width: 10, sort: 'title' }, fact: false },
  { name: 'price', label: 'Price', kind: 'money', column: { width: 5 } },
  { name: 'tags', label: 'Tags', kind: 'words', column: { width: 5 } },
  { label: 'Seats', fact: ({ seats }) => seats },
  { name: 'bus_id', label: 'Bus', kind: 'choice', choices: [{ value: 'b', label: 'ABC 1' }], column: { width: 5 } },
  { name: 'driver.phone', label: 'Phone', kind: 'phone', column: { width: 5, id: 'phone' } },
];

const row: Shown = {
  id: '1',
  provider_id: '2',
  title: 'Umrah',
  price: 1.5,
  tags: ['wifi', 'usb'],
  bus_id: 'b',
  driver: { phone: null },
  seats: 4,
};

it('makes form, columns and facts of one list, each in its order', () => {
  expect(formOf(fields).map(({ name }) => name)).toEqual(['title', 'price', 'tags', 'bus_id', 'driver.phone']);
  expect(columnsOf(fields, 'en').map(({ id, header, align }) => [id, header, align])).toEqual([
    ['title', 'Title', undefined],
    ['price', 'Price', 'end'],
    ['tags', 'Tags', undefined],
    ['bus_id', 'Bus', undefined],
    ['phone', 'Phone', undefined],
  ]);
  expect(factsOf(fields, row, 'en').map(([label]) => label)).toEqual(['Price', 'Tags', 'Seats', 'Bus', 'Phone']);
});

it('writes values by their kind, and nothing for what a row does not have', () => {
  expect(columnsOf(fields, 'en').map(({ text }) => text(row))).toEqual(['Umrah', '1.50', 'wifi، usb', 'ABC 1', '']);
  expect(factsOf(fields, row, 'en').find(([label]) => label === 'Phone')?.[1]).toBeNull();
});
