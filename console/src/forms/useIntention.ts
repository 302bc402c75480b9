import { useCallback, useState } from 'react';
import { outcomeUnknown } from '@/api/errors';

/**
 * One intention of a person, sent until it is decided. Its key stays while it is not known whether the request was carried out, so that
 * sending it again cannot do it twice; what was refused is a new intention when it is sent once more.
 */
export function useIntention<T>(carryOut: (key: string) => Promise<T>) {
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const begin = useCallback(() => {
    setKey(crypto.randomUUID());
    setError(null);
  }, []);

  const send = async (): Promise<{ done: true; value: T } | { done: false }> => {
    setBusy(true);
    setError(null);
    try {
      return { done: true, value: await carryOut(key) };
    } catch (failed) {
      setError(failed);
      if (!outcomeUnknown(failed)) setKey(crypto.randomUUID());
      return { done: false };
    } finally {
      setBusy(false);
    }
  };

  return { send, begin, busy, error, unknown: error !== null && outcomeUnknown(error) };
}
