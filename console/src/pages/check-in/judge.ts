import type { Entry, Passenger } from './kept';
import type { Ticket } from './ticket';

/** What is said of a passenger: what the API answers, or what this telephone knows by itself. */
export type Verdict = 'CHECKED_IN' | 'SAVED' | 'UNLISTED' | 'ALREADY' | 'CANCELLED' | 'OTHER_TRIP' | 'INVALID';

export interface Outcome {
  verdict: Verdict;
  name?: string | undefined;
  booking?: string | undefined;
  /** When a passenger was checked in who is so already. */
  at?: string | null | undefined;
}

/** What a passenger is found by: the code of a ticket, of which null is none of ours, or the list. */
export type Found = { passenger: Passenger } | { ticket: Ticket | null; signed: boolean | null };

/** What is known without a network. SAVED and UNLISTED are to be sent; the others are final. */
export function judge(
  found: Found,
  { trip, passengers, entries, now }: { trip: string; passengers: Passenger[]; entries: Entry[]; now: number },
): Outcome {
  if ('ticket' in found) {
    const { ticket, signed } = found;
    if (ticket === null || signed === false || ticket.expires * 1000 < now) return { verdict: 'INVALID' };
    const { name, booking } = ticket;
    if (ticket.trip !== trip) return { verdict: 'OTHER_TRIP', name, booking };
    const passenger = passengers.find(({ passenger_id }) => passenger_id === ticket.passenger);
    if (!passenger) {
      const noted = entries.find((entry) => entry.passenger_id === ticket.passenger && !entry.result);
      return noted ? { verdict: 'ALREADY', name, booking, at: noted.at } : { verdict: 'UNLISTED', name, booking };
    }
    return judge({ passenger }, { trip, passengers, entries, now });
  }
  const { passenger_id, name, booking_number: booking, status, checked_in_at } = found.passenger;
  const at = checked_in_at ?? entries.find((entry) => entry.passenger_id === passenger_id && !entry.result)?.at;
  if (status === 'CANCELLED') return { verdict: 'CANCELLED', name, booking };
  if (at !== undefined) return { verdict: 'ALREADY', name, booking, at };
  return { verdict: 'SAVED', name, booking };
}

/** The list as it is with what is not sent yet: no passenger is asked for twice. */
export const withEntries = (passengers: Passenger[], entries: Entry[]): Passenger[] =>
  passengers.map((one) => {
    if (one.checked_in_at !== null) return one;
    const noted = entries.find((entry) => entry.passenger_id === one.passenger_id && !entry.result);
    return noted ? { ...one, checked_in_at: noted.at } : one;
  });

const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\u064b-\u065f\u0670\u0640]|\p{M}/gu, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/ى/g, 'ي')
    .replace(/ة/g, 'ه')
    .toLowerCase();

/** Who is found by parts of the name or by one of the booking number, whatever the letter case and the marks. */
export function searched(passengers: Passenger[], text: string): Passenger[] {
  const words = folded(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return passengers;
  return passengers.filter(({ name, booking_number }) =>
    [name, booking_number].map(folded).some((within) => words.every((word) => within.includes(word))),
  );
}
