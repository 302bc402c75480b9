import { expect, it } from 'vitest';
import { csvOf } from '@/lib/csv';
import { fileOf, sheetOf } from './paper';

const passenger = (end: string, booking: string, name: string, checked_in_at: string | null = null) => ({
  passenger_id: end,
  name,
  booking_id: booking,
  booking_number: `RB-${booking}`,
  status: 'CONFIRMED' as const,
  status_label_ar: 'مؤكد',
  status_label_en: 'Confirmed',
  checked_in_at,
});

const list = [
  passenger('a', '1', 'سارة', '2026-12-01T05:00:00Z'),
  passenger('b', '1', '=1+1'),
  passenger('c', '2', '@x'),
];

it('counts the seats of each booking', () => {
  expect(sheetOf(list).map(({ number, seats }) => [number, seats])).toEqual([
    [1, 2],
    [2, 2],
    [3, 1],
  ]);
});

it('is a file whose cells no spreadsheet runs', () => {
  const file = csvOf(fileOf(list, ['#', 'Name', 'Booking', 'Seats', 'Checked in'], (at) => at));
  expect(file).toBe(
    "\uFEFF#,Name,Booking,Seats,Checked in\r\n1,سارة,RB-1,2,2026-12-01T05:00:00Z\r\n2,'=1+1,RB-1,2,\r\n3,'@x,RB-2,1,\r\n",
  );
});
