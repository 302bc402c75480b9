import { expect, it } from 'vitest';
import type { Entry } from '@/shared/timeline';
import { storyOf } from './story';

const entry = (minute: number, event: Entry['event'], facts: Entry['facts'] = {}): Entry => ({
  at: `2026-11-28T09:${String(minute).padStart(2, '0')}:00Z`,
  kind: 'STATE_CHANGE',
  event,
  facts,
  message: '',
  details: {},
});
const booking = {
  created_at: '2026-11-28T09:00:00Z',
  amount: 1150,
  currency: 'SAR' as const,
  passengers: [{ name: 'A', document_number: null }],
  cancellation_requests: [],
};

it('tells what people ask about, and leaves the rest to the whole list', () => {
  const story = storyOf(booking, [
    entry(1, 'TRANSACTION_OPENED'),
    entry(2, 'WEBHOOK_RECEIVED'),
    entry(3, 'STATUS_CHANGED', { to_status: 'PAID' }),
    entry(4, 'MESSAGE_QUEUED'),
    entry(5, 'MESSAGE_SENT'),
    entry(6, 'REFUND_SUCCEEDED'),
  ]);
  expect(story.map((one) => (one.kind === 'line' ? one.entry.event : one.kind))).toEqual([
    'booked',
    'paid',
    'REFUND_SUCCEEDED',
  ]);
});

it('tells five events, those that tell most, in the order of time', () => {
  const story = storyOf(booking, [
    entry(3, 'STATUS_CHANGED', { to_status: 'PAID' }),
    entry(4, 'REFUND_REQUESTED'),
    entry(5, 'REFUND_FAILED'),
    entry(6, 'REFUND_REQUESTED'),
    entry(7, 'REFUND_SUCCEEDED'),
    entry(8, 'RECORD_PAID_OUT'),
  ]);
  expect(story.map((one) => (one.kind === 'line' ? one.entry.event : one.kind))).toEqual([
    'paid',
    'REFUND_REQUESTED',
    'REFUND_FAILED',
    'REFUND_REQUESTED',
    'REFUND_SUCCEEDED',
  ]);
});
