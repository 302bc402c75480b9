import i18next from 'i18next';
import { beforeAll, expect, it } from 'vitest';
import ar from '@/i18n/ar.json';
import en from '@/i18n/en.json';
import { merged, sentence, type Entry } from './timeline';

const entry = (at: string, message: string): Entry => ({ at, message, kind: 'STATE_CHANGE', details: {} });

it('tells several histories as one', () => {
  const later = entry('2026-11-25T10:00:01Z', 'b');
  const first = entry('2026-11-25T10:00:00.5Z', 'a');
  expect(merged([[later], [first, later]])).toEqual([first, later]);
});

beforeAll(async () => {
  await i18next.init({ lng: 'en', resources: { en: { translation: en }, ar: { translation: ar } } });
});

it.each<[Entry['kind'], string, Entry['details'], string]>([
  ['STATE_CHANGE', 'The transaction was opened as PENDING', { to_status: 'PENDING' }, 'Payment opened: Pending'],
  [
    'STATE_CHANGE',
    'The transaction went from PENDING to FAILED (CARD_DECLINED)',
    { from_status: 'PENDING', to_status: 'FAILED', failure_code: 'CARD_DECLINED' },
    'Status changed from Pending to Failed (CARD_DECLINED)',
  ],
  [
    'NOTIFICATION',
    'Notification TRIP_MOVED by SMS was sent',
    { notification_kind: 'TRIP_MOVED', channel: 'SMS' },
    'Message “Trip moved” sent by SMS',
  ],
  [
    'REFUND',
    'The refund of 10.00 SAR, which needs an approval: APPROVED',
    { decision: 'APPROVED' },
    'Refund approval: Approved',
  ],
  [
    'REFUND',
    'A PARTIAL refund of 10.00 SAR was requested',
    { refund_type: 'PARTIAL', amount: 10, currency: 'SAR', status: 'PENDING' },
    'Refund of 10.00 SAR requested (Partial amount)',
  ],
  [
    'INCIDENT',
    'Incident LATE_PAYMENT was resolved',
    { incident_kind: 'LATE_PAYMENT' },
    'Incident “Late payment” resolved',
  ],
])('tells %s in words', (kind, message, details, words) => {
  const line: Entry = { at: '2026-11-25T10:00:00Z', kind, message, details };
  expect(sentence(line, i18next.t, 'en')).toBe(words);
  const arabic = sentence(line, i18next.getFixedT('ar'), 'ar');
  expect(arabic).toMatch(/[؀-ۿ]/);
  expect(arabic).not.toBe(message);
});
