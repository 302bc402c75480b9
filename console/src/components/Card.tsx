import { Skeleton } from '@mantine/core';
import { useEffect, useId, useState, type ReactNode } from 'react';
import { useWords } from '@/i18n/useWords';
import { ErrorMessage } from './Messages';
import classes from './ui.module.css';

/** A part of a page with a heading of its own. */
export function Card({ title, aside, children }: { title?: ReactNode; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.card} aria-labelledby={title ? id : undefined}>
      {title && (
        <h2>
          <span id={id}>{title}</span>
          {aside}
        </h2>
      )}
      {children}
    </section>
  );
}

/** How long an answer may take before the page says that it is late, in milliseconds. */
const late = 5_000;

/** Says, beside a skeleton, that the answer is late. */
export function Slow() {
  const { t } = useWords();
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(setSlow, late, true);
    return () => {
      window.clearTimeout(timer);
    };
  }, []);
  return (
    <p role="status" className={classes.small}>
      {slow && t('list.slow')}
    </p>
  );
}

/** The card shows what was read earlier: reading it again has failed. */
function Old({ retry }: { retry: () => void }) {
  const { t } = useWords();
  return (
    <p role="alert" className={classes.notice}>
      {t('list.old')}{' '}
      <button type="button" className={classes.link} onClick={retry}>
        {t('error.retry')}
      </button>
    </p>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  isPending: boolean;
  refetch: () => unknown;
}

/** What an answer shows once it is there; before that its shape, and else why it is not. */
export function Answer<T>({
  query,
  lines = 3,
  labels,
  children,
}: {
  query: Asked<T>;
  lines?: number;
  /** Those of the fields that an error may name. */
  labels?: Record<string, string>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) {
    return (
      <>
        {query.error !== null && query.error !== undefined && <Old retry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    );
  }
  if (query.isPending) {
    return (
      <div aria-busy="true">
        {Array.from({ length: lines }, (_, line) => (
          <Skeleton key={line} height={14} mb={8} width={line % 2 ? '70%' : '95%'} />
        ))}
        <Slow />
      </div>
    );
  }
  return <ErrorMessage error={query.error} retry={() => void query.refetch()} {...(labels && { labels })} />;
}
