import type { TFunction } from 'i18next';
import type { Schemas } from '@/api/client';
import { amountText, moneyText } from '@/lib/money';

export type Entry = Schemas['TimelineEntry'];
export type TimelineEvent = Schemas['TimelineEvent'];

type Facts = Entry['facts'];

/** What a sentence may name; texts take what they need. */
type Words = Record<string, string>;

/**
 * The sentence of each event, by its key in the texts. The compiler asks for one of every event that the API knows; what is left out here
 * has none.
 */
const keys: Record<TimelineEvent, string | ((facts: Facts) => string)> = {
  TRANSACTION_OPENED: 'opened',
  STATUS_CHANGED: (facts) => (facts.paid_by ? 'wentPaidBy' : 'went'),
  WEBHOOK_RECEIVED: 'webhook',
  GATEWAY_ANSWERED: 'answered',
  RECORD_WRITTEN: 'recordWritten',
  RECORD_SPLIT: 'recordSplit',
  RECORD_PAID_OUT: 'recordPaidOut',
  RECORD_PAYOUT_REVERTED: 'recordPayoutReverted',
  SUSPENSE_BOOKED: 'suspense',
  REFUND_REQUESTED: 'refundAsked',
  REFUND_APPROVAL_DECIDED: 'approval',
  REFUND_PAYOUT_DECIDED: 'payout',
  REFUND_SUCCEEDED: (facts) => (facts.gateway_refund_id ? 'refundMadeAs' : 'refundMade'),
  REFUND_FAILED: 'refundFailed',
  REFUND_RETURNED: 'refundReturned',
  MESSAGE_QUEUED: 'queued',
  MESSAGE_WAITING: 'waiting',
  MESSAGE_GIVEN_UP: 'givenUp',
  MESSAGE_SENT: 'sent',
  DISPUTE_OPENED: (facts) => (facts.dispute_kind === 'INQUIRY' ? 'inquiry' : 'disputed'),
  DISPUTE_CLOSED: 'disputeEnded',
  INCIDENT_OPENED: 'incident',
  INCIDENT_RESOLVED: 'incidentResolved',
};

/** A line of a history in words of the page's language, told from its event and facts. An event of a newer API is shown as the API says it. */
export function sentence(
  entry: Entry,
  t: TFunction,
  language: 'ar' | 'en',
  moment: (at: string) => string = (at) => at,
): string {
  const known = keys[entry.event] as (typeof keys)[TimelineEvent] | undefined;
  if (!known) return entry.message;
  const { facts } = entry;
  const key = typeof known === 'string' ? known : known(facts);
  const because = facts.failure_code
    ? ` (${t(`failure.${facts.failure_code}`, { defaultValue: facts.failure_code })})`
    : '';
  const repeated = (facts.deliveries ?? 1) > 1 ? t('timeline.repeated', { times: facts.deliveries }) : '';
  return (
    t(`timeline.${key}`, { ...words(facts, t, language, moment), defaultValue: entry.message }) + because + repeated
  );
}

function words(facts: Facts, t: TFunction, language: 'ar' | 'en', moment: (at: string) => string): Words {
  const word = (value: string | undefined) => (value ? t(`enum.${value}`, { defaultValue: value }) : '');
  return {
    amount:
      facts.amount === undefined
        ? ''
        : facts.currency
          ? moneyText(facts.amount, language, facts.currency)
          : amountText(facts.amount, language),
    from: word(facts.from_status),
    to: word(facts.to_status),
    paidBy: word(facts.paid_by),
    type: word(facts.refund_type ?? facts.event_type),
    outcome: facts.outcome
      ? t(`timeline.outcome.${facts.outcome}`, { defaultValue: facts.outcome })
      : t('timeline.unprocessed'),
    number: facts.transaction_number ?? '',
    kind: word(facts.record_kind ?? facts.notification_kind ?? facts.incident_kind),
    channel: word(facts.channel),
    account: facts.credit_account ?? '',
    decision: word(facts.decision),
    refund: facts.gateway_refund_id ?? '',
    attempts: String(facts.attempts ?? 0),
    dispute: facts.to_status ? t(`timeline.dispute.${facts.to_status}`, { defaultValue: facts.to_status }) : '',
    reason: facts.reason
      ? t(`timeline.reason.${facts.reason}`, { defaultValue: facts.reason, attempts: facts.attempts ?? 0 })
      : '',
    until: facts.until ? moment(facts.until) : '',
  };
}

/** Histories of several payments as one, each line once, in the order of time. */
export function merged(histories: Entry[][]): Entry[] {
  const seen = new Map(histories.flat().map((entry) => [lineKey(entry), entry]));
  return [...seen.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** What tells a line from another one: its moment, its event and what it is about. */
export function lineKey({ at, event, facts }: Entry): string {
  return JSON.stringify([
    at,
    event,
    facts.refund_id,
    facts.record_id,
    facts.notification_id,
    facts.incident_id,
    facts.event_type,
    facts.to_status,
    facts.transaction_id,
  ]);
}
