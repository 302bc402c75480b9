import { expect, it } from 'vitest';
import { ApiError } from '@/api/errors';
import { byField, correctionOf, passengerField } from './correction';

const email = { name: 'contact.email', label: '', kind: 'email' } as const;
const phone = { name: 'contact.phone', label: '', kind: 'phone' } as const;
const name = (id: string) => ({ name: passengerField(id), label: '' });

it('sends what was changed and nothing else', () => {
  const values = { 'contact.email': ' a@b.sa ', 'contact.phone': '٠٥٥ 123-4567', [passengerField('7')]: ' Sara ' };
  expect(correctionOf([email], values)).toEqual({ contact: { email: 'a@b.sa' } });
  expect(correctionOf([phone, name('7')], values)).toEqual({
    contact: { phone: '0551234567' },
    passengers: [{ id: '7', name: 'Sara' }],
  });
  expect(correctionOf([email], { 'contact.email': '' })).toEqual({ contact: { email: '' } });
});

it('names the field of a passenger that the API refuses by its place', () => {
  const refused = new ApiError(422, 'VALIDATION_ERROR', 'no', {
    'passengers.1.name': ['empty'],
    'contact.email': ['wrong'],
  });
  const sent = {
    passengers: [
      { id: '7', name: 'A' },
      { id: '8', name: '' },
    ],
  };
  expect((byField(refused, sent) as ApiError).fields).toEqual({
    [passengerField('8')]: ['empty'],
    'contact.email': ['wrong'],
  });
  const other = new Error('no answer');
  expect(byField(other, sent)).toBe(other);
});
