import { describe, expect, it } from 'vitest';
import { dayIn, dayText, localOf, momentOf, momentText, relativeText, periodChange, wholePeriod } from './dates';

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
  expect(dayText('2026-11-01', 'en')).toBe('1 Nov 2026');
  expect(dayIn(new Date('2026-11-25T21:00:00Z'))).toBe('2026-11-26');
});

it.each([
  ['2026-11-25T09:00:00Z', '3 hours ago'],
  ['2026-11-25T11:59:30Z', '30 seconds ago'],
  ['2026-11-27T13:00:00Z', 'in 2 days'],
])('%s is %s', (at, text) => {
  expect(relativeText(at, Date.parse('2026-11-25T12:00:00Z'), 'en')).toBe(text);
});

it.each([
  [{}, {}],
  [
    { date_from: '2026-11-01', date_to: '2026-11-02' },
    { date_from: '2026-11-01', date_to: '2026-11-02' },
  ],
  [{ date_to: '2026-11-25' }, { date_from: '2025-11-25', date_to: '2026-11-25' }],
  [{ date_from: '2026-11-01' }, { date_from: '2026-11-01', date_to: '2026-11-26' }],
  [{ date_from: '2024-01-01' }, { date_from: '2024-01-01', date_to: '2024-12-31' }],
  [{ date_from: '2027-01-01' }, { date_from: '2027-01-01', date_to: '2028-01-01' }],
])('the period of %j is %j', (given, whole) => {
  expect(wholePeriod(given, '2026-11-26')).toEqual(whole);
});

it('a period is by its name or by its days', () => {
  expect(periodChange('period', 'today')).toEqual({ period: 'today', date_from: '', date_to: '' });
  expect(periodChange('date_to', '2026-11-25')).toEqual({ date_to: '2026-11-25', period: '' });
  expect(periodChange('date_to', '')).toEqual({ date_to: '' });
});
