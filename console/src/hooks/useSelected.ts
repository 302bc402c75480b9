import { useCallback, useState } from 'react';

/** The row that is looked at: of those that are there now, so that it follows what changes. */
export function useSelected<T>(idOf: (row: T) => string) {
  const [kept, setKept] = useState<T | null>(null);
  const [opened, setOpened] = useState(false);
  const open = useCallback((row: T) => {
    setKept(row);
    setOpened(true);
  }, []);
  const close = useCallback(() => {
    setOpened(false);
  }, []);
  return {
    opened,
    open,
    close,
    /** The row as it was when it was chosen, wherever it is now. */
    chosen: kept,
    /** The row as it was read last; null once it is not among them any more, for what it says and offers then may be over. */
    current: (rows: T[]) => (kept === null ? null : (rows.find((row) => idOf(row) === idOf(kept)) ?? null)),
  };
}
