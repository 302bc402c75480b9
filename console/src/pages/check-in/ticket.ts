import { isUuid } from '@/lib/ids';

/** What the code on a ticket says; the API's document names the parts. */
export interface Ticket {
  trip: string;
  passenger: string;
  name: string;
  booking: string;
  /** Seconds since 1970. */
  expires: number;
}

export interface Key {
  kid: string;
  x: string;
  use: string;
}

/** The longest code that the API takes. */
const longest = 8000;

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

const jsonOf = (part: string) => JSON.parse(new TextDecoder().decode(bytesOf(part))) as Record<string, unknown>;

const looks = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a text may be the code of a ticket, and not a name or a number. */
export const looksLikeTicket = (text: string) => text.length <= longest && looks.test(text);

/** What a code says, signed or not; null when it is no ticket. */
export function readTicket(text: string): Ticket | null {
  if (!looksLikeTicket(text)) return null;
  try {
    const { trip, pid, name, bn, exp } = jsonOf(text.split('.')[1] ?? '');
    if (typeof trip !== 'string' || typeof pid !== 'string' || !isUuid(pid) || typeof exp !== 'number') return null;
    return {
      trip,
      passenger: pid,
      name: typeof name === 'string' ? name : '',
      booking: typeof bn === 'string' ? bn : '',
      expires: exp,
    };
  } catch {
    return null;
  }
}

/** Whether one of the keys has signed the code; null where that cannot be found out here. */
export async function isSigned(text: string, keys: readonly Key[]): Promise<boolean | null> {
  const [head = '', body = '', signature = ''] = text.split('.');
  try {
    const { kid } = jsonOf(head);
    const key = keys.find((one) => one.use === 'ticket' && one.kid === kid);
    // A new key may have come after the keys were read.
    if (!key) return null;
    const imported = await crypto.subtle.importKey(
      'jwk',
      { kty: 'OKP', crv: 'Ed25519', x: key.x },
      { name: 'Ed25519' },
      false,
      ['verify'],
    );
    return await crypto.subtle.verify(
      'Ed25519',
      imported,
      bytesOf(signature),
      new TextEncoder().encode(`${head}.${body}`),
    );
  } catch {
    return null;
  }
}
