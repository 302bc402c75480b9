import { Button, Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useEffect, useState, type SyntheticEvent } from 'react';
import { stepUp, stepUpBySignOn } from '@/api/identity';
import { meQueries } from '@/api/queries/me';
import { forgetSignedIn, wasSignedIn } from '@/api/session';
import { setHooks, type StepUpMethod } from '@/api/transport';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { currentLanguage } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import { returnTo } from '@/lib/returnTo';
import { queries } from './queries';
import { pageNow, pathNow, router } from './router';

type Decide = (done: boolean) => void;

let ask: (decide: Decide, method: StepUpMethod) => void = (decide) => {
  decide(false);
};

/** Requests that need it at the same time share one dialog. */
let asked: Promise<boolean> | null = null;

/** On the way to the sign-in page: several requests are answered that the session has ended, and the first says so. */
let leaving = false;

/** Goes to the sign-in page, and again when another navigation of the page has come in between. */
function leave(to: string, tries = 5) {
  leaving = true;
  void router.navigate(to).then(() => {
    if (!pageNow().startsWith('/sign-in') && tries > 1) {
      leave(to, tries - 1);
      return;
    }
    // Not earlier: a reload before the sign-in page stands would ask again, and find no person who was signed in.
    forgetSignedIn();
    leaving = false;
  });
}

setHooks({
  language: currentLanguage,
  stepUp: (method) => {
    asked ??= new Promise<boolean>((resolve) => {
      ask(resolve, method);
    }).finally(() => {
      asked = null;
    });
    return asked;
  },
  signedOut: () => {
    // The link of a mail is opened with and without a session, and its token is in no address to come back to.
    if (leaving || ['/sign-in', '/verify-email'].some((page) => pageNow().startsWith(page))) return;
    // A person who was signed in reads why this page comes; for others it is the way in.
    const ended = queries.getQueryData(meQueries.all) !== undefined || wasSignedIn() ? '&ended=true' : '';
    leave(`/sign-in?back=${encodeURIComponent(pathNow())}${ended}`);
  },
  enrol: () => {
    if (pageNow() !== '/security') void router.navigate('/security');
  },
});

/**
 * Asks for a fresh code of the second factor when an operation needs one, and then lets the same request go again. Of an account that
 * signs in with the company account it asks a new sign-in: the browser goes there, and comes back to the page.
 */
export function StepUpDialog() {
  const { t } = useWords();
  const [decide, setDecide] = useState<Decide | null>(null);
  const [method, setMethod] = useState<StepUpMethod>('CODE');
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    ask = (next, by) => {
      setMethod(by);
      setCode('');
      setError(null);
      setDecide(() => next);
    };
  }, []);

  // The new sign-in came back with an error.
  useEffect(() => {
    const params = new URLSearchParams(location.search);
    if (!params.has('step_up_error')) return;
    params.delete('step_up_error');
    notifications.show({ message: t('stepUp.failed'), color: 'red', autoClose: false });
    void router.navigate({ pathname: pageNow(), search: params.toString() }, { replace: true });
  }, [t]);

  const close = (done: boolean) => {
    decide?.(done);
    setDecide(null);
  };

  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      if (method === 'SIGN_ON') {
        location.assign((await stepUpBySignOn(returnTo(pathNow()))).location);
        return;
      }
      await stepUp(code.replace(/\s/g, ''));
      void queries.invalidateQueries({ queryKey: meQueries.all });
      close(true);
    } catch (failed) {
      setError(failed);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Modal
      opened={decide !== null}
      onClose={() => {
        close(false);
      }}
      title={t('stepUp.title')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
      zIndex={400}
    >
      <form onSubmit={(event) => void submit(event)} className={ui.stack}>
        <p className={ui.text}>{t(method === 'CODE' ? 'stepUp.why' : 'stepUp.whySignOn')}</p>
        {error !== null && <ErrorMessage error={error} labels={{ code: t('signIn.code') }} />}
        {method === 'CODE' && (
          <TextInput
            label={t('signIn.code')}
            value={code}
            onChange={(event) => {
              setCode(event.currentTarget.value);
            }}
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            data-autofocus
          />
        )}
        <Button type="submit" loading={busy}>
          {t(method === 'CODE' ? 'stepUp.go' : 'stepUp.goSignOn')}
        </Button>
      </form>
    </Modal>
  );
}
