import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'react-router';
import { resetPassword } from '@/api/identity';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { Alone } from './Alone';

/** A new password from a mail's link, or the first one from an invitation's. The token is behind `#`, which no server is sent. */
export function Component() {
  const { t } = useWords();
  const { hash, pathname } = useLocation();
  const token = hash.slice(1);
  const [password, setPassword] = useState('');
  const set = useMutation({ mutationFn: () => resetPassword(token, password) });
  return (
    <Alone title={t(pathname === '/invitation' ? 'reset.invitationTitle' : 'reset.title')}>
      {set.isSuccess && (
        <p role="status" className={ui.text}>
          {t('reset.done')}
        </p>
      )}
      {!set.isSuccess && !token && <p role="alert">{t('reset.noToken')}</p>}
      {!set.isSuccess && token && (
        <form
          className={ui.stack}
          onSubmit={(event) => {
            event.preventDefault();
            set.mutate();
          }}
        >
          {set.isError && <ErrorMessage error={set.error} labels={{ password: t('reset.new') }} />}
          <PasswordInput
            label={t('reset.new')}
            description={t('reset.rule')}
            autoComplete="new-password"
            minLength={10}
            required
            value={password}
            visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
            onChange={(event) => {
              setPassword(event.currentTarget.value);
            }}
          />
          <Button type="submit" loading={set.isPending}>
            {t('reset.go')}
          </Button>
        </form>
      )}
      <p>
        <Link to="/sign-in">{t('signIn.back')}</Link>
      </p>
    </Alone>
  );
}
