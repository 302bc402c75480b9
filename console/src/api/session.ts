import { forgetPassengers } from '@/lib/kept';
import { NoAnswer } from './errors';

/** Sent with what changes something: pages of other sites cannot set it. */
export const sessionHeader = { 'X-Session': 'cookie' } as const;

const refreshedKey = 'rihla.refreshed_at';

/** A refresh of another tab that is younger than this is good enough, in milliseconds. */
const fresh = 10_000;

const signedInKey = 'rihla.signed_in';

/** Whether a user was signed in here and has not signed out: the sign-in page then says that the session ended. */
export const wasSignedIn = () => localStorage.getItem(signedInKey) !== null;
export const rememberSignedIn = () => {
  localStorage.setItem(signedInKey, 'true');
};
export const forgetSignedIn = () => {
  localStorage.removeItem(signedInKey);
  forgetPassengers();
};

async function refresh(): Promise<boolean> {
  const response = await fetch('/api/v1/auth/refresh', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { ...sessionHeader, 'Content-Type': 'application/json' },
    body: '{}',
  });
  if (response.ok) localStorage.setItem(refreshedKey, String(Date.now()));
  // Too many requests of this network end no session.
  if (response.status === 429 || response.status >= 500) throw new NoAnswer();
  return response.ok;
}

/**
 * Gives the session new cookies. A refresh token that is spent twice ends the session, so that there is one refresh at a time over
 * all tabs, and a tab that waited for another one's asks for none of its own. False: the session has ended.
 */
export async function renewSession(failedAt: number): Promise<boolean> {
  return navigator.locks.request('rihla-session', async () => {
    const last = Number(localStorage.getItem(refreshedKey) ?? 0);
    if (last > failedAt || Date.now() - last < fresh) return true;
    return refresh();
  });
}
