import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useLocation } from 'react-router';
import { verifyEmail } from '@/api/identity';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { Alone } from './Alone';

/** A button, and not the opening of the page: mail scanners open links, and a token counts once. */
export function Component() {
  const { t } = useWords();
  const token = useLocation().hash.slice(1);
  const verify = useMutation({ mutationFn: () => verifyEmail(token) });
  return (
    <Alone title={t('verify.title')}>
      <div className={ui.stack}>
        {verify.isError && <ErrorMessage error={verify.error} />}
        {verify.isSuccess ? (
          <p role="status">{t('verify.done')}</p>
        ) : (
          <Button
            loading={verify.isPending}
            disabled={!token}
            onClick={() => {
              verify.mutate();
            }}
          >
            {t('verify.go')}
          </Button>
        )}
        <Link to="/">{t('verify.on')}</Link>
      </div>
    </Alone>
  );
}
