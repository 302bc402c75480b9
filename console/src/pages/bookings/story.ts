import type { Schemas } from '@/api/client';
import type { Entry } from '@/shared/timeline';

/** What happened to a booking, as people tell it: a line of its payments' histories, or something of the booking itself. */
export type Happening =
  | { at: string; kind: 'booked'; passengers: number }
  | { at: string; kind: 'paid'; amount: number; currency: string }
  | { at: string; kind: 'failed'; code: string | undefined }
  | { at: string; kind: 'asked'; passengers: number }
  | { at: string; kind: 'decided'; request: Schemas['CancellationRequest'] }
  | { at: string; kind: 'line'; entry: Entry };

/** How much an event tells: of more than fit, those that tell least are left to the whole list. */
const weights: Record<Exclude<Happening['kind'], 'line'>, number> = {
  paid: 5,
  decided: 4,
  asked: 3,
  booked: 2,
  failed: 2,
};
const lines: Partial<Record<Entry['event'], number>> = {
  REFUND_RETURNED: 6,
  REFUND_FAILED: 6,
  DISPUTE_OPENED: 6,
  DISPUTE_CLOSED: 5,
  REFUND_SUCCEEDED: 5,
  INCIDENT_OPENED: 4,
  REFUND_REQUESTED: 3,
  MESSAGE_GIVEN_UP: 3,
  RECORD_PAID_OUT: 1,
};
const weightOf = (one: Happening) => (one.kind === 'line' ? (lines[one.entry.event] ?? 0) : weights[one.kind]);

type Booking = Pick<Schemas['Booking'], 'created_at' | 'amount' | 'currency' | 'passengers' | 'cancellation_requests'>;

/** The events that tell most, in the order of time. */
export function storyOf(booking: Booking, entries: Entry[], most = 5): Happening[] {
  const all: Happening[] = [
    { at: booking.created_at, kind: 'booked', passengers: booking.passengers.length },
    ...(booking.cancellation_requests ?? []).flatMap((request): Happening[] => [
      { at: request.requested_at, kind: 'asked', passengers: request.passenger_ids.length },
      ...(request.decided_at ? [{ at: request.decided_at, kind: 'decided' as const, request }] : []),
    ]),
    ...entries.flatMap((entry): Happening[] => {
      const { at, event, facts } = entry;
      if (event === 'STATUS_CHANGED' && facts.to_status === 'PAID')
        return [{ at, kind: 'paid', amount: booking.amount, currency: booking.currency }];
      if (event === 'STATUS_CHANGED' && facts.to_status === 'FAILED')
        return [{ at, kind: 'failed', code: facts.failure_code }];
      return event in lines ? [{ at, kind: 'line', entry }] : [];
    }),
  ];
  const time = (one: Happening) => Date.parse(one.at);
  return all
    .sort((a, b) => weightOf(b) - weightOf(a) || time(b) - time(a))
    .slice(0, most)
    .sort((a, b) => time(a) - time(b));
}
