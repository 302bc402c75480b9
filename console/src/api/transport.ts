import { errorOf, NoAnswer } from './errors';
import { renewSession, sessionHeader } from './session';

/** A code of the second factor, or a new sign-in with the company account. */
export type StepUpMethod = 'CODE' | 'SIGN_ON';

/** What the application does when a request needs something of its user first. */
export interface Hooks {
  language: () => string;
  /** Asks for proof of who this is; false when the dialog was closed. */
  stepUp: (method: StepUpMethod) => Promise<boolean>;
  /** The session has ended: to the sign-in page, and back from there. */
  signedOut: () => void;
  /** The account has to enrol a second factor before anything else. */
  enrol: () => void;
}

let hooks: Hooks = {
  language: () => 'ar',
  stepUp: () => Promise.resolve(false),
  signedOut: () => undefined,
  enrol: () => undefined,
};

export function setHooks(next: Hooks): void {
  hooks = next;
}

const reads = new Set(['GET', 'HEAD']);

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request.clone());
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new NoAnswer();
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  return response
    .clone()
    .json()
    .catch(() => null);
}

const codeOf = async (response: Response) => errorOf(response, await bodyOf(response)).code;

/** How this session proves once more who it is of; null when it cannot, here. */
async function methodOf(response: Response): Promise<StepUpMethod | null> {
  const body = (await bodyOf(response)) as { error?: { details?: { method?: string[] } } } | null;
  const method = body?.error?.details?.method?.[0] ?? 'CODE';
  return method === 'CODE' || method === 'SIGN_ON' ? method : null;
}

/**
 * Sends a request of the session. An expired access cookie is renewed and the request sent once more; where a fresh second factor
 * is asked for, the user is, and the same request, with its Idempotency-Key, is sent once more.
 */
export async function sessionFetch(given: Request): Promise<Response> {
  const request = new Request(given, { credentials: 'same-origin' });
  request.headers.set('Accept-Language', hooks.language());
  if (!reads.has(request.method)) request.headers.set('X-Session', sessionHeader['X-Session']);

  const begun = Date.now();
  let response = await send(request);

  if (response.status === 401 && (await codeOf(response)) === 'UNAUTHENTICATED') {
    if (await renewSession(begun)) response = await send(request);
    if (response.status === 401) hooks.signedOut();
  }

  if (response.status === 403) {
    const code = await codeOf(response);
    if (code === 'SECOND_FACTOR_NEEDED') hooks.enrol();
    if (code === 'STEP_UP_REQUIRED') {
      const method = await methodOf(response);
      if (method !== null && (await hooks.stepUp(method))) response = await send(request);
    }
  }

  return response;
}
