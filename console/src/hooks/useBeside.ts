import { useCallback } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { isUuid } from '@/lib/ids';

/** Which row of a list is open beside it, by the page's address: `#id`. A link opens it, and Back closes it. */
export function useBeside() {
  const location = useLocation();
  const { hash, pathname, search } = location;
  const navigate = useNavigate();
  const id = hash.slice(1);
  // Whether Back leads to the list itself; a link from elsewhere has no such step behind it.
  const opened = (location.state as { beside?: boolean } | null)?.beside === true;
  const open = useCallback(
    (row: { id: string }) => {
      void navigate({ pathname, search, hash: row.id }, { state: { beside: true } });
    },
    [navigate, pathname, search],
  );
  const close = () => {
    void (opened ? navigate(-1) : navigate({ pathname, search }, { replace: true }));
  };
  return { id: isUuid(id) ? id : null, open, close };
}
