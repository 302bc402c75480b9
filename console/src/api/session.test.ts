import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NoAnswer } from './errors';
import { renewSession } from './session';

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  vi.stubGlobal('navigator', { locks: { request: (_: string, run: () => unknown) => Promise.resolve(run()) } });
});

afterEach(() => {
  vi.unstubAllGlobals();
});

const answer = (status: number) => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}', { status })));
};

test.each([
  [200, true],
  [401, false],
  [422, false],
])('a refresh that is answered %i', async (status, renewed) => {
  answer(status);
  expect(await renewSession(Date.now())).toBe(renewed);
});

test.each([429, 500, 503])('%i says nothing about the session', async (status) => {
  answer(status);
  await expect(renewSession(Date.now())).rejects.toBeInstanceOf(NoAnswer);
});
