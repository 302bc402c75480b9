import { useSyncExternalStore } from 'react';

let now = Date.now();
const listeners = new Set<() => void>();
let timer: number | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  // Nothing has looked at the clock while no component asked.
  if (timer === undefined) now = Date.now();
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** The time, to half a minute; one timer for all that show it. */
export const useNow = () => useSyncExternalStore(subscribe, () => now);
