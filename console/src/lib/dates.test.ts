import { describe, expect, it } from 'vitest';
import { dayIn, dayText, localOf, momentOf, momentText, relativeText } from './dates';

describe('moments', () => {
  it('are shown in Riyadh', () => {
    expect(momentText('2026-11-25T22:30:00Z', 'en')).toBe('26 Nov 2026, 01:30');
    expect(momentText('2026-11-25T22:30:00Z', 'ar')).toContain('2026');
    expect(momentText('2026-11-25T22:30:00Z', 'ar')).not.toMatch(/[٠-٩]/);
  });

  it('come from and go to fields in Riyadh', () => {
    expect(localOf('2026-11-25T22:30:00Z')).toBe('2026-11-26T01:30');
    expect(momentOf('2026-11-26T01:30')).toBe('2026-11-26T01:30:00+03:00');
  });
});

it('business days do not move with zones', () => {
  expect(dayText('2026-11-25', 'en')).toBe('25 Nov 2026');
  expect(dayIn(new Date('2026-11-25T21:00:00Z'))).toBe('2026-11-26');
});

it.each([
  ['2026-11-25T09:00:00Z', '3 hours ago'],
  ['2026-11-25T11:59:30Z', '30 seconds ago'],
  ['2026-11-27T13:00:00Z', 'in 2 days'],
])('%s is %s', (at, text) => {
  expect(relativeText(at, Date.parse('2026-11-25T12:00:00Z'), 'en')).toBe(text);
});
