import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from './errors';
import { getMe } from './identity';

/** How long a broken stream is left before it is opened again, in milliseconds. */
const pause = 5_000;

/**
 * Reads the queries below `queryKey` again whenever the dashboard's stream says that something has changed. Answers whether the stream
 * is open. The stream ends with its access cookie: a request renews that, and the stream is opened anew.
 */
export function useDashboardEvents(address: string | null, queryKey: QueryKey): boolean {
  const [live, setLive] = useState(false);
  const queries = useQueryClient();

  useEffect(() => {
    if (address === null) return undefined;
    let source: EventSource | null = null;
    let timer: number | undefined;
    let left = false;

    const open = () => {
      if (left) return;
      source = new EventSource(address);
      source.onopen = () => {
        setLive(true);
      };
      source.addEventListener('refresh', () => void queries.invalidateQueries({ queryKey }));
      source.onerror = () => {
        setLive(false);
        if (source?.readyState !== EventSource.CLOSED) return;
        again();
      };
    };
    const again = () => {
      timer = window.setTimeout(() => {
        getMe().then(open, (error: unknown) => {
          // Without a session there is nothing to hear; everything else passes.
          if (!left && !(error instanceof ApiError && error.status === 401)) again();
        });
      }, pause);
    };
    open();

    return () => {
      left = true;
      window.clearTimeout(timer);
      source?.close();
      setLive(false);
    };
  }, [address, queryKey, queries]);

  return live;
}
