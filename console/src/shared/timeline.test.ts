import { expect, it } from 'vitest';
import { merged, type Entry } from './timeline';

const entry = (at: string, message: string): Entry => ({ at, message, kind: 'STATE_CHANGE', details: {} });

it('tells several histories as one', () => {
  const later = entry('2026-11-25T10:00:01Z', 'b');
  const first = entry('2026-11-25T10:00:00.5Z', 'a');
  expect(merged([[later], [first, later]])).toEqual([first, later]);
});
