import { expect, it } from 'vitest';
import { ApiError, NoAnswer } from '@/api/errors';
import { ofContact, withContact, withoutContact } from './contacts';

const a = { name: 'A', email: 'a@rihla.test' };
const b = { name: 'B', email: 'b@rihla.test' };
const c = { name: 'C', email: 'c@rihla.test' };

it('adds, changes and removes one person of the list', () => {
  expect(withContact([a], null, b)).toEqual([a, b]);
  expect(withContact([a, b], 0, c)).toEqual([c, b]);
  expect(withoutContact([a, b, c], 1)).toEqual([a, c]);
});

it('shows what is refused at the fields of the form', () => {
  const error = new ApiError(
    422,
    'VALIDATION_ERROR',
    'm',
    { 'contact_persons.1.email': ['no'], contact_persons: ['x'] },
    'r',
  );
  expect(ofContact(error, 1)).toMatchObject({
    status: 422,
    requestId: 'r',
    fields: { email: ['no'], contact_persons: ['x'] },
  });
  const lost = new NoAnswer();
  expect(ofContact(lost, 1)).toBe(lost);
});
