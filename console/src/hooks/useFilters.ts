import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';

/** The filters of a list, as they stand in the page's address: a link shows the same list to others. */
export function useFilters(names: string[], defaults: Record<string, string> = {}) {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const location = useLocation();
  const key = params.toString();

  const filters = useMemo(() => {
    const found: Record<string, string> = {};
    const given = new URLSearchParams(key);
    for (const name of [...names, 'sort']) {
      // An empty value in the address takes a default away.
      const value = given.get(name) ?? defaults[name] ?? '';
      if (value !== '') found[name] = value;
    }
    return found;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- names and defaults are constants of their page
  }, [key]);

  // Two fields may change before the page is drawn again: the second change goes on from the first.
  const latest = useRef(key);
  useEffect(() => {
    latest.current = key;
  }, [key]);

  // A filter that is typed takes effect after a moment: a row that was opened meanwhile stays beside the list.
  const at = useRef(location);
  useEffect(() => {
    at.current = location;
  }, [location]);
  const change = useCallback(
    (next: URLSearchParams) => {
      const { hash } = at.current;
      void navigate({ search: next.toString(), hash }, { replace: true, state: at.current.state as unknown });
    },
    [navigate],
  );

  const set = useCallback(
    (changes: Record<string, string>) => {
      const next = new URLSearchParams(latest.current);
      for (const [name, value] of Object.entries(changes)) {
        if (value === '' && defaults[name] === undefined) next.delete(name);
        else next.set(name, value);
      }
      latest.current = next.toString();
      change(next);
    },
    // eslint-disable-next-line react-hooks/exhaustive-deps -- as above
    [change],
  );

  const clear = useCallback(() => {
    change(new URLSearchParams());
  }, [change]);

  return { filters, set, clear };
}
