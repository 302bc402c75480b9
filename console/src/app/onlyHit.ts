interface Found<T> {
  data: T[];
  meta: { total: number };
}

/** What a search leads to by itself: the only one that is found, or the one whose number was typed in full. Else null. */
export function onlyHit<T extends { booking_number: string }>({ data, meta }: Found<T>, text: string): T | null {
  if (meta.total === 1) return data[0] ?? null;
  const number = text.trim().toUpperCase();
  return data.find(({ booking_number }) => booking_number === number) ?? null;
}
