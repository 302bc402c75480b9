import { Button } from '@mantine/core';
import { IconLanguage } from '@tabler/icons-react';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import ui from '@/components/ui.module.css';
import { chooseLanguage } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import classes from './alone.module.css';

/** The frame of pages that need no session. */
export function Alone({ title, children }: { title: string; children: ReactNode }) {
  const { t, language } = useWords();
  useDocumentTitle(`${title} · ${t('app.name')}`);
  return (
    <main className={classes.page}>
      <div className={classes.box}>
        <div className={classes.head}>
          <img src="/console/icon.svg" alt="" width={32} height={32} />
          <strong>{t('app.name')}</strong>
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            className={ui.push}
            lang={language === 'ar' ? 'en' : 'ar'}
            leftSection={<IconLanguage size={15} />}
            onClick={() => void chooseLanguage(language === 'ar' ? 'en' : 'ar')}
          >
            {language === 'ar' ? 'English' : 'العربية'}
          </Button>
        </div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
