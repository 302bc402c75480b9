import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'react-router';
import { getMe, verifyEmail } from '@/api/identity';
import { ApiError } from '@/api/errors';
import { useMeQuery } from '@/app/me';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { Alone } from './Alone';

/**
 * A button, and not the opening of the page: mail scanners open links, and a token counts once. Who is in no session of the account
 * gives its password: the API would take it for a stranger's otherwise, and end its password and sessions.
 */
export function Component() {
  const { t } = useWords();
  const token = useLocation().hash.slice(1);
  const me = useMeQuery();
  const [password, setPassword] = useState('');
  // The session of an account whose address is confirmed is not the one that the link is for.
  const [another, setAnother] = useState(false);
  const own = me.data?.email_verified === false && !me.isError && !another;
  const verify = useMutation({
    mutationFn: async () => {
      if (!own) return verifyEmail(token, password);
      // The session may have ended while the page was open.
      await getMe();
      return verifyEmail(token);
    },
    onError: (error) => {
      // The link is of another account than the session: the API asks for its password.
      if (own && error instanceof ApiError && 'password' in error.fields) setAnother(true);
      void me.refetch();
    },
  });
  return (
    <Alone title={t('verify.title')}>
      {verify.isSuccess ? (
        <p role="status">{t('verify.done')}</p>
      ) : (
        <form
          className={ui.stack}
          onSubmit={(event) => {
            event.preventDefault();
            verify.mutate();
          }}
        >
          {verify.isError && <ErrorMessage error={verify.error} />}
          {own && (
            <p className={ui.text}>
              {t('verify.account')}: <bdi className="ltr">{me.data?.email}</bdi>
            </p>
          )}
          {!own && !me.isPending && (
            <>
              <PasswordInput
                label={t('signIn.password')}
                description={t('verify.passwordHint')}
                autoComplete="current-password"
                required
                value={password}
                visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
                onChange={(event) => {
                  setPassword(event.currentTarget.value);
                }}
              />
              <Link to="/forgot-password">{t('verify.noPassword')}</Link>
            </>
          )}
          <Button type="submit" loading={verify.isPending || me.isPending} disabled={!token}>
            {t('verify.go')}
          </Button>
        </form>
      )}
      <Link to="/">{t('verify.on')}</Link>
    </Alone>
  );
}
