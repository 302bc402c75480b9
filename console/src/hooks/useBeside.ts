import { useCallback } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { isUuid } from '@/lib/ids';

/** What is open beside a page, by the page's address: `#` and the id of a row, or a name. A link opens it, and Back closes it. */
function useHash() {
  const location = useLocation();
  const { hash, pathname, search } = location;
  const navigate = useNavigate();
  // Whether Back leads to the page itself; a link from elsewhere has no such step behind it.
  const opened = (location.state as { beside?: boolean } | null)?.beside === true;
  const open = useCallback(
    (name: string) => {
      void navigate({ pathname, search, hash: name }, { state: { beside: true } });
    },
    [navigate, pathname, search],
  );
  const close = () => {
    void (opened ? navigate(-1) : navigate({ pathname, search }, { replace: true }));
  };
  return { name: hash.slice(1), open, close };
}

/** Which row of a list is open beside it. */
export function useBeside() {
  const { name, open: openName, close } = useHash();
  const open = useCallback(
    (row: { id: string }) => {
      openName(row.id);
    },
    [openName],
  );
  return { id: isUuid(name) ? name : null, open, close };
}

/** Something beside a page that is there once, by its name in the address. */
export function usePanel(panel: string) {
  const { name, open, close } = useHash();
  return {
    opened: name === panel,
    open: () => {
      open(panel);
    },
    close,
  };
}
