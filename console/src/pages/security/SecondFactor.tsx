import { Button, CopyButton, PasswordInput, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '@/api/errors';
import { confirmEnrolment, enrol, removeSecondFactor, type Enrolment, type Me } from '@/api/identity';
import { meQueries } from '@/api/queries/me';
import { Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { download } from '@/lib/csv';
import classes from './security.module.css';

export function SecondFactor({ me }: { me: Me }) {
  const { t } = useWords();
  const [removing, remove] = useDisclosure();
  const begin = useMutation({ mutationFn: (password: string | undefined) => enrol(password) });
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <Card title={t('user.secondFactor')}>
      <div className={ui.stack}>
        {codes && <RecoveryCodes codes={codes} />}
        {!codes && me.second_factor && (
          <>
            <p className={ui.text}>{t('security.on')}</p>
            <div>
              <Button size="xs" variant="default" onClick={remove.open}>
                {t('security.remove')}
              </Button>
            </div>
          </>
        )}
        {!codes && !me.second_factor && !begin.data && <Begin begin={begin} />}
        {!codes && !me.second_factor && begin.data && <Confirm enrolment={begin.data} done={setCodes} />}
      </div>
      <FormDialog
        opened={removing}
        close={remove.close}
        title={t('security.remove')}
        fields={[]}
        submitLabel={t('security.remove')}
        danger
        changes={[meQueries.all]}
        done={t('done.secondFactorRemoved')}
        submit={removeSecondFactor}
      >
        <p className={ui.text}>{t('security.removeHint')}</p>
      </FormDialog>
    </Card>
  );
}

type Beginning = UseMutationResult<Enrolment, Error, string | undefined>;

/** Some minutes after signing in, the API asks for the password first. */
function Begin({ begin }: { begin: Beginning }) {
  const { t } = useWords();
  const [password, setPassword] = useState('');
  const [asked, setAsked] = useState(false);
  const missing = begin.error instanceof ApiError && 'password' in begin.error.fields;
  const ask = asked || missing;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (ask) field.current?.focus();
  }, [ask]);
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(ask);
        begin.mutate(ask ? password : undefined);
      }}
    >
      <p className={ui.text}>{t('security.off')}</p>
      {begin.isError && (asked || !missing) && (
        <ErrorMessage error={begin.error} labels={{ password: t('signIn.password') }} />
      )}
      {ask && (
        <PasswordInput
          ref={field}
          label={t('signIn.password')}
          description={t('security.passwordAgain')}
          autoComplete="current-password"
          required
          value={password}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
          onChange={(event) => {
            setPassword(event.currentTarget.value);
          }}
        />
      )}
      <div>
        <Button type="submit" size="xs" loading={begin.isPending}>
          {t('security.begin')}
        </Button>
      </div>
    </form>
  );
}

function Confirm({ enrolment, done }: { enrolment: Enrolment; done: (codes: string[]) => void }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [code, setCode] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const confirm = useMutation({
    mutationFn: () => confirmEnrolment(code.replace(/\s/g, '')),
    onSuccess: ({ recovery_codes }) => {
      done(recovery_codes);
      void queries.invalidateQueries();
    },
  });
  return (
    <form
      className={ui.stack}
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <p className={ui.text}>{t('security.scan')}</p>
      <img className={classes.qr} src={enrolment.qr_code} alt={t('security.qr')} width={200} height={200} />
      <p className={ui.text}>
        {t('security.byHand')} <CopyId id={enrolment.secret} whole />
      </p>
      {confirm.isError && <ErrorMessage error={confirm.error} labels={{ code: t('security.firstCode') }} />}
      <TextInput
        ref={field}
        label={t('security.firstCode')}
        dir="ltr"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={(event) => {
          setCode(event.currentTarget.value);
        }}
      />
      <div>
        <Button type="submit" size="xs" loading={confirm.isPending}>
          {t('security.confirm')}
        </Button>
      </div>
    </form>
  );
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  const { t } = useWords();
  return (
    <>
      <p className={ui.text} role="status">
        {t('security.codes')}
      </p>
      <ul className={`ltr ${classes.codes ?? ''}`}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <CopyButton value={codes.join('\n')}>
        {({ copied, copy }) => (
          <div className={ui.row}>
            <Button size="xs" variant="default" onClick={copy}>
              {t(copied ? 'copy.done' : 'copy.this')}
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                download('rihla-recovery-codes.txt', `${codes.join('\r\n')}\r\n`, 'text/plain');
              }}
            >
              {t('security.downloadCodes')}
            </Button>
          </div>
        )}
      </CopyButton>
    </>
  );
}
