import type { Schemas } from '@/api/client';

type Quote = Pick<Schemas['CancellationQuote'], 'refund_amount' | 'policy_percent' | 'reason_code'>;

/** Reasons by which a trip that was moved or cancelled gives more than the policy. */
const ofTrip = new Set<Quote['reason_code']>(['RESCHEDULED', 'TRIP_CANCELLED']);

/** Whether today's terms stand in place of those of asking: the trip was changed since, and they give more (rules: cancellations.quote). */
export const isBetter = (asked: Quote, today: Quote | undefined): today is Quote =>
  today !== undefined && ofTrip.has(today.reason_code) && today.policy_percent > asked.policy_percent;

/** What goes back when the request is approved now. */
export const givesNow = (asked: Quote, today: Quote | undefined): number =>
  isBetter(asked, today) ? today.refund_amount : asked.refund_amount;
