import { expect, it } from 'vitest';
import { bodyOf, valuesOf, type FieldsOf } from './fields';

interface Body {
  name: string;
  driver: { name: string; phone: string | null };
  price: number;
  rate?: number;
  tags: string[] | null;
  at: string;
  amount?: number;
}

const fields: FieldsOf<Body> = [
  { name: 'name', label: '' },
  { name: 'driver.name', label: '' },
  { name: 'driver.phone', label: '' },
  { name: 'price', label: '', kind: 'money' },
  { name: 'rate', label: '', kind: 'rate' },
  { name: 'tags', label: '', kind: 'words' },
  { name: 'at', label: '', kind: 'moment' },
  { name: 'amount', label: '', kind: 'money', when: ({ name }) => name === 'partial' },
];

const values = {
  name: ' A ',
  'driver.name': 'B',
  price: '١٢٫٥',
  rate: '12.5',
  tags: 'wifi، usb,',
  at: '2026-12-01T08:30',
  amount: '5',
};

it('makes the body of a request', () => {
  expect(bodyOf<Body>(fields, values)).toEqual({
    name: 'A',
    driver: { name: 'B', phone: null },
    price: 12.5,
    rate: 0.125,
    tags: ['wifi', 'usb'],
    at: '2026-12-01T08:30:00+03:00',
  });
});

it('reads numbers and phones as people write them', () => {
  interface Typed {
    seats: number;
    latitude: number;
    phone: string;
    rate: number;
    wrong: number;
  }
  const typed: FieldsOf<Typed> = [
    { name: 'seats', label: '', kind: 'number' },
    { name: 'latitude', label: '', kind: 'number' },
    { name: 'phone', label: '', kind: 'phone' },
    { name: 'rate', label: '', kind: 'rate' },
    { name: 'wrong', label: '', kind: 'number' },
  ];
  expect(
    bodyOf<Typed>(typed, { seats: '٤٥', latitude: '\u2212٢٤٫٥', phone: '٠٥٥ ١٢٣-٤٥٦٧', rate: '١٢٫٥٪', wrong: '10,50' }),
  ).toEqual({ seats: 45, latitude: -24.5, phone: '0551234567', rate: 0.125, wrong: '10,50' });
});

it('leaves empty fields out on demand, and sends what it cannot read for the API to judge', () => {
  const body = bodyOf<Body>(fields, { name: 'partial', price: 'much', amount: '5.00' }, true);
  expect(body).toEqual({ name: 'partial', price: 'much', amount: 5, tags: [] });
});

it('begins a form with what a row has, so that what is not changed is sent as it was', () => {
  const row = {
    name: 'A',
    driver: { name: 'B', phone: null },
    price: 12.5,
    rate: 0.125,
    tags: ['wifi', 'usb'],
    at: '2026-12-01T05:30:00Z',
  };
  const some = fields.filter(({ name }) => name !== 'amount');
  const begun = valuesOf<Body>(some, row);
  expect(begun).toEqual({
    name: 'A',
    'driver.name': 'B',
    'driver.phone': '',
    price: '12.50',
    rate: '12.5',
    tags: 'wifi, usb',
    at: '2026-12-01T08:30',
  });
  expect(bodyOf<Body>(some, begun)).toEqual({ ...row, at: '2026-12-01T08:30:00+03:00' });
});

it('begins a field of several choices with their values', () => {
  expect(valuesOf([{ name: 'stops', label: '', kind: 'choices' }], { stops: ['a', 'b'] })).toEqual({ stops: 'a,b' });
});

it('has no field that the body does not have', () => {
  const wrong: FieldsOf<Body> = [
    // @ts-expect-error -- the compiler says so
    { name: 'driver.plate', label: '' },
  ];
  expect(wrong).toHaveLength(1);
});
