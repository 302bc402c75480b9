import { expect, it } from 'vitest';
import { bodyOf, type Field } from './fields';

const fields: Field[] = [
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
  expect(bodyOf(fields, values)).toEqual({
    name: 'A',
    driver: { name: 'B', phone: null },
    price: 12.5,
    rate: 0.125,
    tags: ['wifi', 'usb'],
    at: '2026-12-01T08:30:00+03:00',
  });
});

it('reads numbers and phones as people write them', () => {
  const typed: Field[] = [
    { name: 'seats', label: '', kind: 'number' },
    { name: 'latitude', label: '', kind: 'number' },
    { name: 'phone', label: '', kind: 'phone' },
    { name: 'rate', label: '', kind: 'rate' },
    { name: 'wrong', label: '', kind: 'number' },
  ];
  expect(
    bodyOf(typed, { seats: '٤٥', latitude: '\u2212٢٤٫٥', phone: '٠٥٥ ١٢٣-٤٥٦٧', rate: '١٢٫٥٪', wrong: '10,50' }),
  ).toEqual({ seats: 45, latitude: -24.5, phone: '0551234567', rate: 0.125, wrong: '10,50' });
});

it('leaves empty fields out on demand, and sends what it cannot read for the API to judge', () => {
  const body = bodyOf(fields, { name: 'partial', price: 'much', amount: '5.00' }, true);
  expect(body).toEqual({ name: 'partial', price: 'much', amount: 5, tags: [] });
});
