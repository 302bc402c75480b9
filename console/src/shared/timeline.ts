import type { TFunction } from 'i18next';
import type { Schemas } from '@/api/client';
import { amountText } from '@/lib/money';

export type Entry = Schemas['TimelineEntry'];

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/**
 * A line of a history in words of the page's language, told from the facts behind it. What is not known here is shown as the API
 * says it, in English.
 */
export function sentence(entry: Entry, t: TFunction, language: 'ar' | 'en'): string {
  const { details: d, message } = entry;
  const word = (value: unknown) => t(`enum.${textOf(value)}`, { defaultValue: textOf(value) });
  const because = d['failure_code'] ? ` (${textOf(d['failure_code'])})` : '';
  switch (entry.kind) {
    case 'STATE_CHANGE':
      return d['from_status']
        ? t('timeline.went', { from: word(d['from_status']), to: word(d['to_status']) }) + because
        : t('timeline.opened', { to: word(d['to_status']) }) + because;
    case 'WEBHOOK':
      return t('timeline.webhook', { type: textOf(d['type']), outcome: word(d['outcome']) });
    case 'LEDGER':
      return t(message.includes('became') ? 'timeline.ledgerChanged' : 'timeline.ledger', {
        number: textOf(d['transaction_number']),
        kind: word(d['record_kind']),
      });
    case 'NOTIFICATION':
      return t(message.endsWith('sent') ? 'timeline.sent' : 'timeline.queued', {
        kind: word(d['notification_kind']),
        channel: word(d['channel']),
      });
    case 'REFUND':
      return refundSentence(entry, t, language) + because;
    case 'INCIDENT':
      return t(message.endsWith('was resolved') ? 'timeline.incidentResolved' : 'timeline.incident', {
        kind: word(d['incident_kind']),
      });
    default:
      return message;
  }
}

function refundSentence({ details: d, message }: Entry, t: TFunction, language: 'ar' | 'en'): string {
  const word = (value: unknown) => t(`enum.${textOf(value)}`, { defaultValue: textOf(value) });
  const amount = typeof d['amount'] === 'number' ? `${amountText(d['amount'], language)} ${textOf(d['currency'])}` : '';
  if (d['decision']) {
    const key = message.includes('needs an approval') ? 'timeline.approval' : 'timeline.payout';
    return t(key, { decision: word(d['decision']) });
  }
  if (message.endsWith('was requested')) return t('timeline.refundAsked', { amount, type: word(d['refund_type']) });
  if (message.includes('came back')) return t('timeline.refundReturned', { amount });
  return t('timeline.refund', { amount, status: word(d['status']) });
}

/** Histories of several payments as one, each line once, in the order of time. */
export function merged(histories: Entry[][]): Entry[] {
  const seen = new Map(histories.flat().map((entry) => [`${entry.at} ${entry.message}`, entry]));
  return [...seen.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
