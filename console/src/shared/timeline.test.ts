import i18next from 'i18next';
import { beforeAll, expect, it } from 'vitest';
import ar from '@/i18n/ar.json';
import en from '@/i18n/en.json';
import { lineKey, merged, sentence, type Entry, type TimelineEvent } from './timeline';

const entry = (at: string, event: TimelineEvent, facts: Entry['facts'] = {}): Entry => ({
  at,
  kind: 'STATE_CHANGE',
  event,
  facts,
  message: 'In English',
  details: {},
});

it('tells several histories as one', () => {
  const later = entry('2026-11-25T10:00:01Z', 'STATUS_CHANGED', { to_status: 'PAID' });
  const first = entry('2026-11-25T10:00:00.5Z', 'TRANSACTION_OPENED', { to_status: 'PENDING' });
  expect(merged([[later], [first, { ...later, message: 'the same in other words' }]])).toEqual([
    first,
    { ...later, message: 'the same in other words' },
  ]);
});

it('keeps lines of one moment apart', () => {
  const at = '2026-11-25T10:00:00Z';
  const mail = entry(at, 'MESSAGE_QUEUED', { notification_id: '1' });
  const sms = entry(at, 'MESSAGE_QUEUED', { notification_id: '2' });
  expect(lineKey(mail)).not.toBe(lineKey(sms));
  expect(merged([[mail, sms]])).toHaveLength(2);
});

beforeAll(async () => {
  await i18next.init({
    lng: 'en',
    resources: { en: { translation: en }, ar: { translation: ar } },
    interpolation: { escapeValue: false },
  });
});

/** Without what keeps an amount together: its isolates, and a space that does not break. */
const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '').replaceAll('\u00a0', ' ');

/** Every event with the facts that the API gives with it: the compiler asks for one of each. */
const told: Record<TimelineEvent, [Entry['facts'], string]> = {
  TRANSACTION_OPENED: [{ to_status: 'PENDING' }, 'Payment opened: Pending'],
  STATUS_CHANGED: [
    { from_status: 'PENDING', to_status: 'FAILED', failure_code: 'CARD_DECLINED' },
    'Status changed from Pending to Failed (CARD_DECLINED)',
  ],
  WEBHOOK_RECEIVED: [
    { event_type: 'payment.succeeded', outcome: 'APPLIED', deliveries: 3 },
    'Gateway event payment.succeeded: applied, 3 times',
  ],
  GATEWAY_ANSWERED: [
    { event_type: 'payment.succeeded', deliveries: 1 },
    'Status poll returned payment.succeeded: not processed yet',
  ],
  RECORD_WRITTEN: [
    { transaction_number: 'RH-2026-000001', record_kind: 'SALE', amount: 115, currency: 'SAR' },
    'Ledger entry RH-2026-000001 (Sale) created: 115.00 SAR',
  ],
  RECORD_SPLIT: [
    { transaction_number: 'RH-2026-000002', amount: 85, currency: 'SAR' },
    'Ledger entry RH-2026-000002 created for the amount left after the refund: 85.00 SAR',
  ],
  RECORD_PAID_OUT: [
    { transaction_number: 'RH-2026-000001', amount: 115, currency: 'SAR' },
    'Ledger entry RH-2026-000001 paid out to the provider: 115.00 SAR',
  ],
  RECORD_PAYOUT_REVERTED: [{ transaction_number: 'RH-2026-000001' }, 'Payout of ledger entry RH-2026-000001 reverted'],
  SUSPENSE_BOOKED: [
    { amount: 990, currency: 'USD', credit_account: 'suspense:gateway_a:USD' },
    '990.00 USD put in suspense (suspense:gateway_a:USD): amount or currency differs from the request',
  ],
  REFUND_REQUESTED: [
    { refund_type: 'PARTIAL', amount: 10, currency: 'SAR', to_status: 'PENDING' },
    'Refund of 10.00 SAR requested (Partial refund)',
  ],
  REFUND_APPROVAL_DECIDED: [{ decision: 'APPROVED', amount: 10, currency: 'SAR' }, 'Refund approval: Approved'],
  REFUND_PAYOUT_DECIDED: [
    { decision: 'PAID_OUT', amount: 10, currency: 'SAR' },
    'Manual payout of 10.00 SAR: Paid out',
  ],
  REFUND_SUCCEEDED: [
    { amount: 10, currency: 'SAR', gateway_refund_id: 're_1' },
    'Refund of 10.00 SAR completed (re_1)',
  ],
  REFUND_FAILED: [
    { amount: 10, currency: 'SAR', failure_code: 'GATEWAY_REJECTED' },
    'Refund of 10.00 SAR failed (Rejected by the gateway)',
  ],
  REFUND_RETURNED: [{ amount: 10, currency: 'SAR' }, 'Refund of 10.00 SAR came back and is owed to the customer'],
  MESSAGE_QUEUED: [{ notification_kind: 'TRIP_MOVED', channel: 'SMS' }, '“Departure changed” message queued for SMS'],
  MESSAGE_WAITING: [
    { notification_kind: 'TRIP_MOVED', channel: 'SMS', reason: 'RECIPIENT_LIMIT', until: '2026-11-26T10:00:00Z' },
    '“Departure changed” message by SMS delayed until tomorrow: 24-hour message limit of this recipient reached',
  ],
  MESSAGE_GIVEN_UP: [
    { notification_kind: 'TRIP_MOVED', channel: 'SMS', reason: 'DELIVERY_FAILED', attempts: 20 },
    '“Departure changed” message by SMS not sent: delivery failed (attempts: 20)',
  ],
  MESSAGE_SENT: [{ notification_kind: 'TRIP_MOVED', channel: 'SMS' }, '“Departure changed” message sent by SMS'],
  DISPUTE_OPENED: [
    { dispute_kind: 'CHARGEBACK', to_status: 'OPEN', amount: 575, currency: 'SAR', reason: 'fraudulent' },
    'The customer’s bank disputed the payment and withdrew 575.00 SAR',
  ],
  DISPUTE_CLOSED: [{ dispute_kind: 'CHARGEBACK', to_status: 'LOST' }, 'Dispute closed: lost'],
  INCIDENT_OPENED: [{ incident_kind: 'LATE_PAYMENT' }, 'Incident “Late payment” opened'],
  INCIDENT_RESOLVED: [{ incident_kind: 'LATE_PAYMENT' }, 'Incident “Late payment” resolved'],
};

it.each(Object.entries(told))('tells %s by its event and facts', (event, [facts, words]) => {
  const line = entry('2026-11-25T10:00:00Z', event as TimelineEvent, facts);
  expect(plain(sentence(line, i18next.t, 'en', () => 'tomorrow'))).toBe(words);
  const arabic = sentence(line, i18next.getFixedT('ar'), 'ar', () => 'غدًا');
  expect(arabic).toMatch(/[؀-ۿ]/);
  expect(arabic).not.toContain('{{');
  expect(arabic).not.toContain('SAR');
  expect(plain(sentence({ ...line, message: 'Other words' }, i18next.t, 'en', () => 'tomorrow'))).toBe(words);
});

it('tells a successful refund without a reference of the gateway', () => {
  const line = entry('2026-11-25T10:00:00Z', 'REFUND_SUCCEEDED', { amount: 10, currency: 'SAR' });
  expect(plain(sentence(line, i18next.t, 'en'))).toBe('Refund of 10.00 SAR completed');
});

it('tells by what a payment was made that was not made as chosen', () => {
  const line = entry('2026-11-25T10:00:00Z', 'STATUS_CHANGED', {
    from_status: 'PENDING',
    to_status: 'PAID',
    paid_by: 'debit_network',
  });
  expect(sentence(line, i18next.t, 'en')).toMatch(/; paid with a different method than chosen: Debit/);
  expect(sentence(line, i18next.getFixedT('ar'), 'ar')).not.toContain('{{');
});

it('shows an event of a newer API in the words of the API', () => {
  expect(sentence(entry('2026-11-25T10:00:00Z', 'SOMETHING_NEW' as TimelineEvent), i18next.t, 'en')).toBe('In English');
});
