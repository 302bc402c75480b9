import { createContext, use, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** Whether the page is on its way to paper. */
export const Printing = createContext(false);

export const usePrinting = () => use(Printing);

/** For the one who gives it to all others: the browser prints what is drawn when its event returns. */
export function useIsPrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const begin = () => {
      flushSync(() => {
        setPrinting(true);
      });
    };
    const end = () => {
      setPrinting(false);
    };
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return printing;
}
