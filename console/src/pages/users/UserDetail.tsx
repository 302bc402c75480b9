import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { actOnUser, changeUser, removeUser, type ManagedUser, type UserChange } from '@/api/identity';
import { auditQueries } from '@/api/queries/audit';
import { userQueries } from '@/api/queries/users';
import { useMe } from '@/app/me';
import { Badge } from '@/components/Badge';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { bodyOf, valuesOf, type FieldsOf, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useRoleChoices } from './roles';

export function UserDetail({ user, opened, close }: { user: ManagedUser; opened: boolean; close: () => void }) {
  const { t } = useWords();
  const { word } = useChoices();
  return (
    <Detail
      opened={opened}
      close={close}
      title={
        <span className={ui.row}>
          <bdi>{user.name}</bdi> <Badge state={user.state}>{word(user.state)}</Badge>
        </span>
      }
    >
      <Actions user={user} leave={close} />
      <Facts
        of={[
          [t('field.email'), <CopyId key="v" id={user.email} />],
          [t('field.phone'), <CopyId key="v" id={user.phone} />],
          [t('field.role'), t(`role.${user.role}`)],
          [t('user.secondFactor'), t(user.second_factor ? 'answer.yes' : 'answer.no')],
          [t('user.lockedUntil'), user.locked_until && <When key="v" at={user.locked_until} />],
          [t('user.lastLogin'), <When key="v" at={user.last_login_at} />],
          [t('field.created'), <When key="v" at={user.created_at} />],
          [t('field.id'), <CopyId key="v" id={user.id} whole />],
        ]}
      />
      <Link to={`/audit?actor_id=${user.id}`}>{t('user.whatTheyDid')}</Link>
    </Detail>
  );
}

interface Action {
  name: 'edit' | 'lock' | 'unlock' | 'invitation' | 'reset-second-factor' | 'remove';
  shown: boolean;
  danger: boolean;
  fields: FieldsOf<UserChange>;
  initial?: Values;
  submit: (values: Values, key: string, changed: FieldsOf<UserChange>) => Promise<unknown>;
}

function useActions(user: ManagedUser, leave: () => void): Action[] {
  const { t } = useWords();
  const me = useMe();
  const roleChoices = useRoleChoices();
  const other = user.id !== me.id;
  const fields: FieldsOf<Required<Omit<UserChange, 'locale'>>> = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
    { name: 'role', label: t('field.role'), kind: 'choice', required: true, choices: roleChoices },
  ];
  const plain = (
    name: 'lock' | 'unlock' | 'invitation' | 'reset-second-factor',
    shown: boolean,
    danger = false,
  ): Action => ({
    name,
    shown,
    danger,
    fields: [],
    submit: () => actOnUser(user.id, name),
  });
  return [
    {
      name: 'edit',
      shown: true,
      danger: false,
      fields,
      initial: valuesOf<ManagedUser>(fields, user),
      submit: (values, _, changed) => changeUser(user.id, bodyOf<UserChange>(changed, values)),
    },
    plain('invitation', user.state === 'INVITED'),
    plain('unlock', user.state === 'LOCKED' || (Boolean(user.locked_until) && other)),
    plain('lock', user.state !== 'LOCKED' && other, true),
    plain('reset-second-factor', user.second_factor && other, true),
    { name: 'remove', shown: other, danger: true, fields: [], submit: () => removeUser(user.id).then(leave) },
  ];
}

function Actions({ user, leave }: { user: ManagedUser; leave: () => void }) {
  const { t } = useWords();
  const [name, setName] = useState<Action['name'] | null>(null);
  const actions = useActions(user, leave).filter(({ shown }) => shown);
  const action = actions.find((each) => each.name === name);
  return (
    <div className={ui.row}>
      {actions.map((each) => (
        <Button
          key={each.name}
          size="xs"
          variant="default"
          onClick={() => {
            setName(each.name);
          }}
        >
          {t(`user.action.${each.name}`)}
        </Button>
      ))}
      {action && (
        <FormDialog
          opened
          close={() => {
            setName(null);
          }}
          title={t(`user.action.${action.name}`)}
          fields={action.fields}
          {...(action.initial && { initial: action.initial })}
          submitLabel={t(`user.action.${action.name}`)}
          danger={action.danger}
          changes={[userQueries.all, auditQueries.all]}
          done={t(`user.done.${action.name}`, { name: user.name })}
          submit={action.submit}
        >
          <p className={ui.text}>
            <bdi>{user.name}</bdi> · <bdi>{user.email}</bdi>
          </p>
        </FormDialog>
      )}
    </div>
  );
}
