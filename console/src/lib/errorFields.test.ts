import { expect, it } from 'vitest';
import { byField, fieldOf } from './errorFields';

it('finds the field that an error is about, also of a part of it', () => {
  const fields = ['capacity', 'driver.phone', 'features'];
  expect(fieldOf('capacity', fields)).toBe('capacity');
  expect(fieldOf('driver.phone', fields)).toBe('driver.phone');
  expect(fieldOf('features.3', fields)).toBe('features');
  expect(fieldOf('driver', fields)).toBeNull();
  expect(fieldOf('cap', fields)).toBeNull();
});

it('says at a field what is wrong with its parts, each once', () => {
  const errors = {
    'features.0': ['is too long'],
    'features.1': ['is too long'],
    other: ['is wrong'],
    name: ['is empty'],
  };
  expect(byField(errors, ['features', 'name'])).toEqual({ features: ['is too long'], name: ['is empty'] });
});
