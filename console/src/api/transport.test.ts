import { afterEach, expect, it, vi } from 'vitest';
import { sessionFetch, setHooks, type StepUpMethod } from './transport';

const refusal = (details?: object) =>
  Response.json({ error: { code: 'STEP_UP_REQUIRED', message: 'First prove who you are.', details } }, { status: 403 });

/** The methods that a request asks the application for, whose dialog ends as the test says, and the status of the answer. */
async function asked(details: object | undefined, proved: boolean) {
  const answers = [refusal(details), new Response(null, { status: 204 })];
  vi.stubGlobal('fetch', () => Promise.resolve(answers.shift()));
  const methods: StepUpMethod[] = [];
  setHooks({
    language: () => 'en',
    stepUp: (method) => {
      methods.push(method);
      return Promise.resolve(proved);
    },
    signedOut: () => undefined,
    enrol: () => undefined,
  });
  const { status } = await sessionFetch(new Request('http://localhost/api/v1/admin/refunds', { method: 'POST' }));
  return { methods, status };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

it('asks for a code, and sends the request again', async () => {
  expect(await asked({ method: ['CODE'] }, true)).toEqual({ methods: ['CODE'], status: 204 });
  expect(await asked(undefined, true)).toEqual({ methods: ['CODE'], status: 204 });
});

it('asks for a new sign-in where the session was opened by one', async () => {
  expect(await asked({ method: ['SIGN_ON'] }, false)).toEqual({ methods: ['SIGN_ON'], status: 403 });
});

it('asks nothing that cannot be proved here', async () => {
  expect(await asked({ method: ['NEW_TOKEN'] }, true)).toEqual({ methods: [], status: 403 });
});
