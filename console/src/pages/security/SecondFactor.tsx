import { Button, CopyButton, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { confirmEnrolment, enrol, removeSecondFactor, type Enrolment, type Me } from '@/api/identity';
import { meKey } from '@/app/me';
import { Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import classes from './security.module.css';

export function SecondFactor({ me }: { me: Me }) {
  const { t } = useWords();
  const [removing, remove] = useDisclosure();
  const begin = useMutation({ mutationFn: enrol });
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
        {!codes && !me.second_factor && !begin.data && (
          <>
            <p className={ui.text}>{t('security.off')}</p>
            {begin.isError && <ErrorMessage error={begin.error} />}
            <div>
              <Button
                size="xs"
                loading={begin.isPending}
                onClick={() => {
                  begin.mutate();
                }}
              >
                {t('security.begin')}
              </Button>
            </div>
          </>
        )}
        {!codes && !me.second_factor && begin.data && <Confirm enrolment={begin.data} done={setCodes} />}
      </div>
      <FormDialog
        opened={removing}
        close={remove.close}
        title={t('security.remove')}
        fields={[]}
        submitLabel={t('security.remove')}
        danger
        changes={[meKey[0]]}
        submit={removeSecondFactor}
      >
        <p className={ui.text}>{t('security.removeHint')}</p>
      </FormDialog>
    </Card>
  );
}

function Confirm({ enrolment, done }: { enrolment: Enrolment; done: (codes: string[]) => void }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [code, setCode] = useState('');
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
      {confirm.isError && <ErrorMessage error={confirm.error} />}
      <TextInput
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
          <div>
            <Button size="xs" variant="default" onClick={copy}>
              {t(copied ? 'copy.done' : 'copy.this')}
            </Button>
          </div>
        )}
      </CopyButton>
    </>
  );
}
