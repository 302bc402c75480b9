// The generated client as an app would set it up: one per caller, with its token, and errors that say what was wrong.
import assert from 'node:assert/strict';
import { env } from 'node:process';

import createClient, { type Client } from 'openapi-fetch';

import type { components, paths } from '../generated/api.js';

export type Schemas = components['schemas'];

/** Where the service runs; with-dev sets it. */
export const baseUrl = env['RIHLA_URL'] ?? 'http://127.0.0.1:8080';

/** The password of every user that `rihla dev` makes. */
const devPassword = 'rihla-dev-password';

export type Caller = Client<paths>;

/** A caller without a token. */
export function anybody(): Caller {
  return createClient<paths>({ baseUrl, headers: { 'Accept-Language': 'en' } });
}

/** A caller who has signed in as the user that `rihla dev` makes for the role. */
export async function signIn(role: string): Promise<{ caller: Caller; user: Schemas['User'] }> {
  const caller = anybody();
  const { data } = await succeeds(
    200,
    caller.POST('/api/v1/auth/login', { body: { email: `${role}@rihla.test`, password: devPassword } }),
  );

  if ('mfa_required' in data) throw new Error(`${role} has a second factor`);

  caller.use({
    onRequest: ({ request }) => {
      request.headers.set('Authorization', `${data.token_type} ${data.access_token}`);
      return request;
    },
  });

  return { caller, user: data.user };
}

interface Answer<Data, Failure> {
  data?: Data;
  error?: Failure;
  response: Response;
}

/** The body of an answer that must have the status. */
export async function succeeds<Data, Failure>(status: number, call: Promise<Answer<Data, Failure>>): Promise<Data> {
  const { data, error, response } = await call;

  assert.equal(response.status, status, `${response.url}: ${JSON.stringify(error ?? data)}`);
  assert.ok(data !== undefined, `${response.url}: no body`);

  return data;
}

/** The error of an answer that must have the status and the code. */
export async function fails(
  status: number,
  code: Schemas['ErrorCode'],
  call: Promise<Answer<unknown, Schemas['ErrorAnswer']>>,
): Promise<Schemas['Error']> {
  const { error, response } = await call;

  assert.equal(response.status, status, response.url);
  assert.equal(error?.error.code, code, response.url);

  return error.error;
}
