import { useCallback, useRef, useState } from 'react';
import { outcomeUnknown, stillUnknown } from '@/api/errors';

/**
 * One intention of a person, sent until it is decided. Its key stays while it is not known whether the request was carried out, so that
 * sending it again cannot do it twice; what was refused is a new intention when it is sent once more. It is sent again as it was,
 * whatever the page has read since: another body under the key would be refused, and would say nothing of the first.
 */
export function useIntention<T>(carryOut: (key: string) => Promise<T>) {
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  const [unknown, setUnknown] = useState(false);
  const [busy, setBusy] = useState(false);
  const sent = useRef(carryOut);

  const begin = useCallback(() => {
    setKey(crypto.randomUUID());
    setError(null);
    setUnknown(false);
  }, []);

  const send = async (): Promise<{ done: true; value: T } | { done: false; unknown: boolean; error: unknown }> => {
    setBusy(true);
    setError(null);
    if (!unknown) sent.current = carryOut;
    try {
      return { done: true, value: await sent.current(key) };
    } catch (failed) {
      // A limit or an ended session says nothing about the try before it.
      const open = unknown ? stillUnknown(failed) : outcomeUnknown(failed);
      setError(failed);
      setUnknown(open);
      if (!open) setKey(crypto.randomUUID());
      return { done: false, unknown: open, error: failed };
    } finally {
      setBusy(false);
    }
  };

  return { send, begin, busy, error, unknown };
}
