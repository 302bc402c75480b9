import { useLayoutEffect, useRef, type RefObject } from 'react';
import { NavigationType, useLocation, useNavigationType } from 'react-router';

/** How far each page of the history was scrolled, by element and entry. They are gone with the document. */
const kept = new Map<string, number>();

/** For how long a page that grows while it is read is waited for, in milliseconds. */
const patience = 2_000;

/**
 * Keeps how far an element is scrolled: Back shows a page where it was left, and a page that is gone to begins at its top. What is beside
 * a page has an address of its own and leaves the page where it is.
 */
export function useKeptScroll(element: RefObject<HTMLElement | null>, name = 'page') {
  const { key, pathname } = useLocation();
  const back = useNavigationType() === NavigationType.Pop;
  const before = useRef<string | null>(null);

  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const id = `${name} ${key}`;
    const note = () => {
      kept.set(id, current.scrollTop);
    };
    // Another entry of the same page begins where the last one was.
    if (before.current === pathname) note();
    before.current = pathname;
    current.addEventListener('scroll', note, { passive: true });
    return () => {
      current.removeEventListener('scroll', note);
    };
  }, [element, name, key, pathname]);

  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const wanted = back ? (kept.get(`${name} ${key}`) ?? 0) : 0;
    current.scrollTo({ top: wanted });
    if (wanted === 0) return;
    // A page that is not as high yet is still being read.
    const end = performance.now() + patience;
    let frame = 0;
    const again = () => {
      if (Math.abs(current.scrollTop - wanted) < 2 || performance.now() > end) return;
      current.scrollTo({ top: wanted });
      frame = requestAnimationFrame(again);
    };
    frame = requestAnimationFrame(again);
    const stop = () => {
      cancelAnimationFrame(frame);
    };
    // The reader's own hand comes first.
    current.addEventListener('wheel', stop, { once: true, passive: true });
    current.addEventListener('touchstart', stop, { once: true, passive: true });
    return () => {
      stop();
      current.removeEventListener('wheel', stop);
      current.removeEventListener('touchstart', stop);
    };
    // Another entry of the same page, such as another filter or a row beside it, does not move it.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- as the sentence above says
  }, [element, name, pathname]);
}
