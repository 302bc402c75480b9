import { Button } from '@mantine/core';
import { isRouteErrorResponse, useRouteError } from 'react-router';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';

/** The page for one that breaks, or its files are gone because a newer version is served. */
export function Failed() {
  const { t } = useWords();
  const error = useRouteError();
  const text = isRouteErrorResponse(error) ? error.statusText : error instanceof Error ? error.message : '';
  return (
    <div role="alert" className={ui.message}>
      <strong>{t('error.broken')}</strong>
      {text && <code className="ltr">{text}</code>}
      <Button
        size="xs"
        onClick={() => {
          location.reload();
        }}
      >
        {t('error.reload')}
      </Button>
    </div>
  );
}
