import { Loader, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { bookingQueries } from '@/api/queries/bookings';
import { useWords } from '@/i18n/useWords';
import { plainText } from '@/lib/input';
import { onlyHit } from './onlyHit';
import classes from './shell.module.css';

const list = '/bookings';

/**
 * Finds bookings by whatever a customer says: number, name, phone, reference. The only one that is found is opened, and several are
 * listed. It is the list's own search, too, and empty on all other pages. Nothing is suggested while one types: each suggestion would
 * read rows about people, which are counted.
 */
export function SearchBox() {
  const { t } = useWords();
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const shown = pathname === list ? (new URLSearchParams(search).get('search') ?? '') : '';
  const [text, setText] = useState(shown);
  const [before, setBefore] = useState({ pathname, shown });
  if (before.pathname !== pathname || before.shown !== shown) {
    setBefore({ pathname, shown });
    setText(shown);
  }
  // What was asked last: an answer that comes after another question leads nowhere.
  const asked = useRef<string | null>(null);
  const [busy, setBusy] = useState(false);

  const toList = (wanted: string) => {
    const filters = new URLSearchParams(pathname === list ? search : '');
    if (wanted === '') filters.delete('search');
    else filters.set('search', wanted);
    void navigate(`${list}?${filters.toString()}`);
  };
  const find = async (wanted: string) => {
    asked.current = wanted;
    setBusy(true);
    // Without an answer the list says why.
    const found = await bookingQueries.found(wanted).catch(() => null);
    if (asked.current !== wanted) return;
    setBusy(false);
    const hit = found && onlyHit(found, wanted);
    if (hit) void navigate(`${list}/${hit.id}`);
    else toList(wanted);
  };
  return (
    <search className={classes.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = plainText(text);
          if (wanted !== '') void find(wanted);
          else if (shown !== '') toList('');
        }}
      >
        <TextInput
          size="xs"
          type="search"
          data-search=""
          aria-label={t('search.label')}
          placeholder={t('search.short')}
          title={t('search.placeholder')}
          leftSection={busy ? <Loader size={14} /> : <IconSearch size={14} />}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
          }}
        />
      </form>
    </search>
  );
}
