import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { createUser, type ManagedUser, type NewUser } from '@/api/identity';
import { userQueries } from '@/api/queries/users';
import { Badge } from '@/components/Badge';
import { Beside } from '@/components/Beside';
import type { Column } from '@/components/columns';
import { ListPage } from '@/components/ListPage';
import { When } from '@/components/When';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { AccountState, PlatformRole } from '@/gen/enums';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside } from '@/hooks/useBeside';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { UserDetail } from './UserDetail';
import { useRoleChoices } from './roles';

const card = { title: ['name'], badge: 'state', meta: ['role', 'email'] };

export function Component() {
  const { t } = useWords();
  const { word, choices } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const roleChoices = useRoleChoices();
  const { open } = useBeside();
  const columns: Column<ManagedUser>[] = [
    parts.plain('name', t('field.name'), 10, ({ name }) => name),
    parts.plain('email', t('field.email'), 12.5, ({ email }) => email),
    parts.plain('role', t('field.role'), 9, ({ role }) => t(`role.${role}`)),
    {
      id: 'state',
      header: t('field.status'),
      width: 7,
      cell: ({ state }) => <Badge state={state}>{word(state)}</Badge>,
      text: ({ state }) => word(state),
    },
    parts.plain('factor', t('user.secondFactor'), 7.5, ({ second_factor }) =>
      t(second_factor ? 'answer.yes' : 'answer.no'),
    ),
    {
      id: 'lastLogin',
      header: t('user.lastLogin'),
      width: 7.5,
      cell: ({ last_login_at }) => <When at={last_login_at} relative />,
      text: ({ last_login_at }) => last_login_at ?? '',
    },
    parts.plain('phone', t('field.phone'), 9, ({ phone }) => phone, { hidden: true }),
    parts.created(),
  ];
  return (
    <ListPage
      name="users"
      filters={[
        base.search(t('user.search')),
        { name: 'role', label: t('field.role'), kind: 'choice', choices: roleChoices },
        { name: 'state', label: t('field.status'), kind: 'choice', choices: choices(AccountState) },
      ]}
      columns={columns}
      card={card}
      list={userQueries.list}
      rowId={({ id }) => id}
      open={open}
      actions={<Invite />}
      above={({ rows, data }) => (
        <Beside rows={rows} read={data !== undefined} title={t('nav.users')} one={userQueries.one}>
          {(user, { opened, close }) => <UserDetail user={user} opened={opened} close={close} />}
        </Beside>
      )}
    />
  );
}

function Invite() {
  const { t } = useWords();
  const [opened, { open, close }] = useDisclosure();
  const fields: FieldsOf<NewUser> = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'email', label: t('field.email'), kind: 'email', required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
    {
      name: 'role',
      label: t('field.role'),
      kind: 'choice',
      required: true,
      choices: PlatformRole.map((value) => ({ value, label: t(`role.${value}`) })),
    },
    {
      name: 'locale',
      label: t('user.language'),
      kind: 'choice',
      choices: [
        { value: 'ar', label: 'العربية' },
        { value: 'en', label: 'English' },
      ],
    },
  ];
  return (
    <>
      <Button size="xs" leftSection={<IconPlus size={14} />} onClick={open}>
        {t('user.invite')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('user.invite')}
        fields={fields}
        initial={{ role: 'SUPPORT_AGENT', locale: 'ar' }}
        submitLabel={t('user.inviteGo')}
        changes={[userQueries.all]}
        done={t('user.invited')}
        submit={(values) => createUser(bodyOf<NewUser>(fields, values, true))}
      />
    </>
  );
}
