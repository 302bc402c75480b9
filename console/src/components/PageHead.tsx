import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { PageName } from '@/app/nav';
import { usePrinting } from '@/hooks/usePrinting';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { HelpButton } from './Help';
import classes from './ui.module.css';

interface Props {
  title: ReactNode;
  /** The window's title; the page's name without it. */
  name?: string;
  help: PageName;
  /** What paper says besides title and date, such as the filters of a list. */
  paper?: string[];
  children?: ReactNode;
}

/** The head of every page: what it is, what can be done on it, and its help. */
export function PageHead({ title, name, help, paper = [], children }: Props) {
  const { t } = useWords();
  useDocumentTitle(`${name ?? t(`nav.${help}`)} · ${t('app.name')}`);
  return (
    <div className={classes.head}>
      <h1>{title}</h1>
      <HelpButton page={help} />
      {children && <div className={classes.headActions}>{children}</div>}
      <PrintedAt also={paper} />
    </div>
  );
}

/** Below the title on paper: of what, and when. */
export function PrintedAt({ also = [] }: { also?: string[] }) {
  const { t, language } = useWords();
  const printing = usePrinting();
  if (!printing) return null;
  const when = momentText(new Date().toISOString(), language);
  return <p className={classes.printedAt}>{[...also, t('print.at', { when }), t('time.zone')].join(' · ')}</p>;
}
