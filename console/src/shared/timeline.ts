import type { TFunction } from 'i18next';
import type { Schemas } from '@/api/client';
import { amountText } from '@/lib/money';

export type Entry = Schemas['TimelineEntry'];

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/**
 * A line of a history in words. The API's sentences are English; in Arabic they are told from the facts behind them, and what is
 * not known here is shown as the API says it.
 */
export function sentence(entry: Entry, t: TFunction, language: 'ar' | 'en'): string {
  if (language === 'en') return entry.message;
  const { details: d } = entry;
  const word = (value: unknown) => t(`enum.${textOf(value)}`, { defaultValue: textOf(value) });
  const amount = typeof d['amount'] === 'number' ? `${amountText(d['amount'], language)} ${textOf(d['currency'])}` : '';
  switch (entry.kind) {
    case 'STATE_CHANGE':
      return d['from_status']
        ? t('timeline.went', { from: word(d['from_status']), to: word(d['to_status']) })
        : t('timeline.opened', { to: word(d['to_status']) });
    case 'WEBHOOK':
      return t('timeline.webhook', { type: textOf(d['type']), outcome: word(d['outcome']) });
    case 'LEDGER':
      return t(entry.message.includes('became') ? 'timeline.ledgerChanged' : 'timeline.ledger', {
        number: textOf(d['transaction_number']),
        kind: word(d['record_kind']),
      });
    case 'NOTIFICATION':
      return t(entry.message.endsWith('sent') ? 'timeline.sent' : 'timeline.queued', {
        kind: word(d['notification_kind']),
        channel: word(d['channel']),
      });
    case 'REFUND':
      return entry.message.includes('requested')
        ? t('timeline.refundAsked', { amount, type: word(d['refund_type']) })
        : t('timeline.refund', { amount, status: word(d['status']) });
    default:
      return entry.message;
  }
}

/** Histories of several payments as one, each line once, in the order of time. */
export function merged(histories: Entry[][]): Entry[] {
  const seen = new Map(histories.flat().map((entry) => [`${entry.at} ${entry.message}`, entry]));
  return [...seen.values()].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
