import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { forgotPassword } from '@/api/identity';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { visibleText } from '@/lib/input';
import { Alone } from './Alone';

export function Component() {
  const { t } = useWords();
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: forgotPassword });
  return (
    <Alone title={t('reset.forgotTitle')}>
      {ask.isSuccess ? (
        <p role="status" className={ui.text}>
          {t('reset.sent')}
        </p>
      ) : (
        <form
          className={ui.stack}
          onSubmit={(event) => {
            event.preventDefault();
            ask.mutate(email.trim());
          }}
        >
          {ask.isError && <ErrorMessage error={ask.error} labels={{ email: t('field.email') }} />}
          <TextInput
            label={t('field.email')}
            type="email"
            dir="ltr"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => {
              setEmail(visibleText(event.currentTarget.value));
            }}
          />
          <Button type="submit" loading={ask.isPending}>
            {t('reset.ask')}
          </Button>
        </form>
      )}
      <p>
        <Link to="/sign-in">{t('signIn.back')}</Link>
      </p>
    </Alone>
  );
}
