import { expect, it } from 'vitest';
import { onlyHit } from './onlyHit';

const of = (...numbers: string[]) => ({
  data: numbers.map((booking_number) => ({ booking_number })),
  meta: { total: numbers.length },
});

it('leads to the only one that is found, by whatever it was found', () => {
  expect(onlyHit(of('RB-7XK010A'), 'traveller@rihla.test')).toEqual({ booking_number: 'RB-7XK010A' });
});

it('leads to the one whose number was typed, also beside others that have it in a reference', () => {
  expect(onlyHit(of('RB-7XK010A', 'RB-8XK010B'), ' rb-8xk010b')).toEqual({ booking_number: 'RB-8XK010B' });
});

it('leads nowhere from several, or from none', () => {
  expect(onlyHit(of('RB-7XK010A', 'RB-8XK010B'), 'Traveller')).toBeNull();
  expect(onlyHit(of(), 'Traveller')).toBeNull();
});

it('does not take the first of several for the only one', () => {
  expect(onlyHit({ ...of('RB-7XK010A'), meta: { total: 2 } }, 'Traveller')).toBeNull();
});
