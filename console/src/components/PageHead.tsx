import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { PageName } from '@/app/nav';
import { useWords } from '@/i18n/useWords';
import { HelpButton } from './Help';
import classes from './ui.module.css';

interface Props {
  title: ReactNode;
  /** The window's title; the page's name without it. */
  name?: string;
  help: PageName;
  children?: ReactNode;
}

/** The head of every page: what it is, what can be done on it, and its help. */
export function PageHead({ title, name, help, children }: Props) {
  const { t } = useWords();
  useDocumentTitle(`${name ?? t(`nav.${help}`)} · ${t('app.name')}`);
  return (
    <div className={classes.head}>
      <h1>{title}</h1>
      <HelpButton page={help} />
      {children && <div className={classes.headActions}>{children}</div>}
    </div>
  );
}
