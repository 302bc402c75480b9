import { useEffect } from 'react';
import type { Me } from '@/api/identity';
import { hasEntries } from '@/lib/kept';

/** How often what could not be sent is sent again, in milliseconds. */
const again = 20_000;

/** Sends check-ins that were noted without a network, on whichever page their person is. */
export function useCheckIns({ id }: Me): void {
  useEffect(() => {
    const send = () => {
      if (!navigator.onLine || !hasEntries(id)) return;
      // Without a network the file may not come either: the next time is soon.
      void import('@/pages/check-in/send').then(
        (part) => part.send(id),
        () => false,
      );
    };
    send();
    const timer = window.setInterval(send, again);
    window.addEventListener('online', send);
    return () => {
      window.clearInterval(timer);
      window.removeEventListener('online', send);
    };
  }, [id]);
}
