import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { ApiError } from '@/api/errors';
import { logIn, logInWithCode, singleSignOnAddress, type LogIn } from '@/api/identity';
import { meQueries } from '@/api/queries/me';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { chooseLanguage, languageWasChosen } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import { visibleText } from '@/lib/input';
import { Alone } from './Alone';
import classes from './alone.module.css';

/** Single sign-on of an account with a second factor of its own comes back with what the second step needs. */
const tokenOfAddress = () => new URLSearchParams(location.hash.slice(1)).get('mfa_token');

/** Only pages of the console are gone back to. */
const safe = (back: string | null) => (back?.startsWith('/') && !back.startsWith('//') ? back : '/');

export function Component() {
  const { t } = useWords();
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [token, setToken] = useState(tokenOfAddress);
  const back = safe(params.get('back'));

  // What was read with the last session goes with its pages, and not earlier: without it they have no person to show.
  useEffect(() => {
    queries.removeQueries({ type: 'inactive' });
  }, [queries]);

  const enter = async (answer: LogIn) => {
    if (answer.mfa_required) {
      setToken(answer.mfa_token);
      return;
    }
    queries.clear();
    if (!languageWasChosen()) await chooseLanguage(answer.user.locale);
    await navigate(back, { replace: true });
  };

  return (
    <Alone title={t(token === null ? 'signIn.title' : 'signIn.secondStep')}>
      {token === null ? (
        <Password enter={enter} back={back} ssoError={params.get('error')} ended={params.has('ended')} />
      ) : (
        <Code
          token={token}
          enter={enter}
          again={() => {
            setToken(null);
          }}
        />
      )}
    </Alone>
  );
}

type Enter = (answer: LogIn) => Promise<void>;

/** Sends a form, and keeps why it was refused. */
function useSend(send: () => Promise<void>) {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await send();
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return { error, busy, submit };
}

function Password({
  enter,
  back,
  ssoError,
  ended,
}: {
  enter: Enter;
  back: string;
  ssoError: string | null;
  ended: boolean;
}) {
  const { t } = useWords();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const sso = useQuery(meQueries.singleSignOn());
  const { error, busy, submit } = useSend(async () => enter(await logIn(email.trim(), password)));

  return (
    <form className={ui.stack} onSubmit={(event) => void submit(event)}>
      {error !== null && (
        <ErrorMessage error={error} labels={{ email: t('field.email'), password: t('signIn.password') }} />
      )}
      {error === null && ended && (
        <p role="status" className={ui.notice}>
          {t('signIn.ended')}
        </p>
      )}
      {error === null && ssoError !== null && (
        <p role="alert" className={ui.message}>
          <strong>{t('signIn.ssoFailed')}</strong>
          <code className="ltr">{ssoError}</code>
        </p>
      )}
      <TextInput
        label={t('field.email')}
        type="email"
        name="email"
        dir="ltr"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => {
          setEmail(visibleText(event.currentTarget.value));
        }}
      />
      <PasswordInput
        label={t('signIn.password')}
        name="password"
        autoComplete="current-password"
        required
        value={password}
        visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
        onChange={(event) => {
          setPassword(event.currentTarget.value);
        }}
      />
      <Button type="submit" loading={busy}>
        {t('signIn.go')}
      </Button>
      {sso.data?.enabled && (
        <>
          <span className={classes.or}>{t('signIn.or')}</span>
          <Button component="a" variant="default" href={singleSignOnAddress(`/console${back}`)}>
            {t('signIn.sso')}
          </Button>
        </>
      )}
      <Link to="/forgot-password">{t('signIn.forgot')}</Link>
    </form>
  );
}

function Code({ token, enter, again }: { token: string; enter: Enter; again: () => void }) {
  const { t } = useWords();
  const [code, setCode] = useState('');
  // A recovery code has letters, which a keypad of digits does not.
  const [recovery, setRecovery] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [recovery]);
  const { error, busy, submit } = useSend(async () => enter(await logInWithCode(token, code.replace(/\s/g, ''))));
  const ended = error instanceof ApiError && error.code === 'INVALID_CREDENTIALS';
  return (
    <form className={ui.stack} onSubmit={(event) => void submit(event)}>
      {error !== null && <ErrorMessage error={error} labels={{ code: t('signIn.code') }} />}
      <TextInput
        ref={field}
        label={t(recovery ? 'signIn.recoveryCode' : 'signIn.code')}
        description={t(recovery ? 'signIn.recoveryHint' : 'signIn.codeHint')}
        autoComplete={recovery ? 'off' : 'one-time-code'}
        inputMode={recovery ? 'text' : 'numeric'}
        dir="ltr"
        required
        value={code}
        onChange={(event) => {
          setCode(event.currentTarget.value);
        }}
      />
      <Button type="submit" loading={busy}>
        {t('signIn.go')}
      </Button>
      <Button
        variant="subtle"
        onClick={() => {
          setCode('');
          setRecovery(!recovery);
        }}
      >
        {t(recovery ? 'signIn.useApp' : 'signIn.useRecovery')}
      </Button>
      <Button variant={ended ? 'default' : 'subtle'} onClick={again}>
        {t('signIn.again')}
      </Button>
    </form>
  );
}
