import type { Passenger } from './kept';

export interface SheetRow {
  number: number;
  id: string;
  name: string;
  booking: string;
  /** How many seats the booking has. */
  seats: number;
  boarded: string | null;
}

/** The passengers as a list on paper or in a file has them. */
export function sheetOf(passengers: readonly Passenger[]): SheetRow[] {
  const seats = new Map<string, number>();
  for (const { booking_id } of passengers) seats.set(booking_id, (seats.get(booking_id) ?? 0) + 1);
  return passengers.map(({ passenger_id, name, booking_id, booking_number, checked_in_at }, index) => ({
    number: index + 1,
    id: passenger_id,
    name,
    booking: booking_number,
    seats: seats.get(booking_id) ?? 1,
    boarded: checked_in_at,
  }));
}

/** The same as rows of a file, below these heads. */
export const fileOf = (
  passengers: readonly Passenger[],
  heads: string[],
  moment: (at: string) => string,
): string[][] => [
  heads,
  ...sheetOf(passengers).map(({ number, name, booking, seats, boarded }) => [
    String(number),
    name,
    booking,
    String(seats),
    boarded === null ? '' : moment(boarded),
  ]),
];
