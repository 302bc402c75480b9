import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from 'react-router';
import { changePassword, sendVerification, type Me } from '@/api/identity';
import { meQueries } from '@/api/queries/me';
import { useMe } from '@/app/me';
import { Card } from '@/components/Card';
import { Facts } from '@/components/Facts';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import type { Field } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { SecondFactor } from './SecondFactor';
import { Sessions } from './Sessions';

export function Component() {
  const { t } = useWords();
  const me = useMe();
  return (
    <div className={ui.page}>
      <PageHead title={t('nav.security')} help="security" />
      {me.second_factor_needed && (
        <div role="alert" className={ui.message}>
          <strong>{t('security.needed')}</strong>
        </div>
      )}
      <div className={ui.columns}>
        <Account me={me} />
        <SecondFactor me={me} />
      </div>
      {!me.second_factor_needed && <Sessions />}
    </div>
  );
}

function Account({ me }: { me: Me }) {
  const { t } = useWords();
  const navigate = useNavigate();
  const [changing, change] = useDisclosure();
  const [verifying, verify] = useDisclosure();
  const fields: Field[] = [
    { name: 'current_password', label: t('security.current'), kind: 'password', required: true },
    { name: 'new_password', label: t('reset.new'), kind: 'password', required: true, hint: t('reset.rule') },
  ];
  return (
    <Card title={t('security.account')}>
      <div className={ui.stack}>
        <Facts
          of={[
            [t('field.name'), <bdi key="v">{me.name}</bdi>],
            [t('field.email'), <bdi key="v">{me.email}</bdi>],
            [t('security.verified'), t(me.email_verified ? 'answer.yes' : 'answer.no')],
            [
              t('field.phone'),
              <bdi key="v" className="ltr">
                {me.phone}
              </bdi>,
            ],
            [t('field.role'), t(`role.${me.role}`)],
          ]}
        />
        <div className={ui.row}>
          <Button size="xs" variant="default" onClick={change.open}>
            {t('security.changePassword')}
          </Button>
          {!me.email_verified && (
            <Button size="xs" variant="default" onClick={verify.open}>
              {t('security.verify')}
            </Button>
          )}
        </div>
      </div>
      <FormDialog
        opened={changing}
        close={change.close}
        title={t('security.changePassword')}
        fields={fields}
        submitLabel={t('reset.go')}
        changes={[]}
        done={t('reset.done')}
        submit={async ({ current_password = '', new_password = '' }) => {
          await changePassword(current_password, new_password);
          // All sessions have ended, this one as well.
          await navigate('/sign-in');
        }}
      >
        <p className={ui.text}>{t('security.endsAll')}</p>
      </FormDialog>
      <FormDialog
        opened={verifying}
        close={verify.close}
        title={t('security.verify')}
        fields={[]}
        submitLabel={t('reset.ask')}
        changes={[meQueries.all]}
        done={t('security.mailSent')}
        submit={sendVerification}
      >
        <p className={ui.text}>
          <bdi>{me.email}</bdi>
        </p>
      </FormDialog>
    </Card>
  );
}
