import type { Schemas } from '@/api/client';

type Booking = Schemas['TripBooking'];

/** Who travels first, then who may yet, and at the end who does not. */
const order: Record<Booking['status'], number> = { CONFIRMED: 0, PENDING_PAYMENT: 1, PAYMENT_FAILED: 2, CANCELLED: 3 };

/** The name that a booking is found by. */
export const firstName = ({ passengers }: Pick<Booking, 'passengers'>) => passengers[0]?.name ?? '';

/** Bookings by their state, and by the name of the first passenger within one. */
export function inOrder<B extends Pick<Booking, 'status' | 'passengers'>>(bookings: B[], language: string): B[] {
  const { compare } = new Intl.Collator(language);
  return bookings.toSorted((a, b) => order[a.status] - order[b.status] || compare(firstName(a), firstName(b)));
}
