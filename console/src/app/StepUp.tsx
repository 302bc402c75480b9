import { Button, Modal, TextInput } from '@mantine/core';
import { useEffect, useState, type SyntheticEvent } from 'react';
import { stepUp } from '@/api/identity';
import { setHooks } from '@/api/transport';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { currentLanguage } from '@/i18n';
import { useWords } from '@/i18n/useWords';
import { meKey } from './me';
import { queries } from './queries';
import { pageNow, pathNow, router } from './router';

type Decide = (done: boolean) => void;

let ask: (decide: Decide) => void = (decide) => {
  decide(false);
};

/** Requests that need a code at the same time share one dialog. */
let asked: Promise<boolean> | null = null;

setHooks({
  language: currentLanguage,
  stepUp: () => {
    asked ??= new Promise<boolean>((resolve) => {
      ask(resolve);
    }).finally(() => {
      asked = null;
    });
    return asked;
  },
  signedOut: () => {
    if (pageNow().startsWith('/sign-in')) return;
    // A person who was signed in is told why this page comes; for others it is the way in.
    const ended = queries.getQueryData(meKey) === undefined ? '' : '&ended=true';
    void router.navigate(`/sign-in?back=${encodeURIComponent(pathNow())}${ended}`).then(() => {
      queries.clear();
    });
  },
  enrol: () => {
    if (pageNow() !== '/security') void router.navigate('/security');
  },
});

/** Asks for a fresh code of the second factor when an operation needs one, and then lets the same request go again. */
export function StepUpDialog() {
  const { t } = useWords();
  const [decide, setDecide] = useState<Decide | null>(null);
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    ask = (next) => {
      setCode('');
      setError(null);
      setDecide(() => next);
    };
  }, []);

  const close = (done: boolean) => {
    decide?.(done);
    setDecide(null);
  };

  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await stepUp(code.replace(/\s/g, ''));
      void queries.invalidateQueries({ queryKey: meKey });
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
        <p className={ui.text}>{t('stepUp.why')}</p>
        {error !== null && <ErrorMessage error={error} />}
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
        <Button type="submit" loading={busy}>
          {t('stepUp.go')}
        </Button>
      </form>
    </Modal>
  );
}
