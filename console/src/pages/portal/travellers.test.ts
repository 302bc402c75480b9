import { expect, it } from 'vitest';
import { inOrder } from './travellers';

const booking = (status: 'CONFIRMED' | 'PENDING_PAYMENT' | 'PAYMENT_FAILED' | 'CANCELLED', name: string) => ({
  status,
  passengers: [{ name, document_number: null }],
});

it('has who travels first, by name', () => {
  const found = inOrder(
    [
      booking('CANCELLED', 'Amal'),
      booking('CONFIRMED', 'Sara'),
      booking('PAYMENT_FAILED', 'Badr'),
      booking('PENDING_PAYMENT', 'Omar'),
      booking('CONFIRMED', 'ali'),
    ],
    'en',
  );
  expect(found.map(({ passengers }) => passengers[0]?.name)).toEqual(['ali', 'Sara', 'Omar', 'Badr', 'Amal']);
});

it('orders Arabic names, and a booking without passengers, too', () => {
  const found = inOrder(
    [booking('CONFIRMED', 'سعد'), booking('CONFIRMED', 'أحمد'), { status: 'CONFIRMED' as const, passengers: [] }],
    'ar',
  );
  expect(found.map(({ passengers }) => passengers[0]?.name)).toEqual([undefined, 'أحمد', 'سعد']);
});
