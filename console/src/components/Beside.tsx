import { useQuery, type UseQueryOptions } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ApiError } from '@/api/errors';
import { noRow } from '@/api/queries/lists';
import { useBeside } from '@/hooks/useBeside';
import { useWords } from '@/i18n/useWords';
import { Answer } from './Card';
import { Detail } from './Detail';
import ui from './ui.module.css';

/** What a detail is shown with. `asking`: the row is not read by itself yet. */
export interface BesideProps {
  opened: boolean;
  close: () => void;
  asking: boolean;
}

interface Props<T> {
  /** Of the list, as far as it is read. */
  rows: T[];
  /** Whether these are all that there will be for now. */
  read: boolean;
  title: string;
  /** Reads one of them by itself; without it a row is shown as long as the list has it. */
  one?: (id: string) => Pick<UseQueryOptions<{ data: T }>, 'queryKey'> & object;
  /** One that is read by itself says more than the list does. */
  saysMore?: boolean;
  children: (row: T, props: BesideProps) => ReactNode;
}

/** The row that the address names, beside its list; also when the list does not show it, or shows it no longer. */
export function Beside<T extends { id: string }>({ rows, read, title, one, saysMore = false, children }: Props<T>) {
  const { t } = useWords();
  const { id, close } = useBeside();
  const [kept, setKept] = useState<T | null>(null);
  const listed = rows.find((row) => row.id === id) ?? null;
  const query = useQuery<{ data: T }>({
    ...((one ? one(id ?? '') : noRow) as UseQueryOptions<{ data: T }>),
    enabled: one !== undefined && id !== null && (saysMore || (listed === null && read)),
  });
  const alone = query.data?.data.id === id ? query.data.data : null;
  const found = (saysMore ? (alone ?? listed) : (listed ?? alone)) ?? (one && kept?.id === id ? kept : null);
  // It stays in sight while it closes.
  if (found !== null && found !== kept) setKept(found);
  if (id !== null && found === null && (one ? query.isError : read)) {
    const known = one === undefined || (query.error instanceof ApiError && query.error.status === 404);
    return (
      <Detail opened close={close} title={title}>
        {known ? (
          <p className={ui.text}>{t(one ? 'list.notFound' : 'list.notListed')}</p>
        ) : (
          <Answer query={query}>{() => null}</Answer>
        )}
      </Detail>
    );
  }
  return kept && children(kept, { opened: id !== null && found?.id === id, close, asking: query.isPending });
}
