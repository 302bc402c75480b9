import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { companyQueries } from '@/api/queries/company';
import { useMe } from '@/app/me';
import { Answer, Card } from '@/components/Card';
import { MiniTable } from '@/components/MiniTable';
import ui from '@/components/ui.module.css';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { StaffRole } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';

type Account = Schemas['Staff'];

/** The accounts that act for the company. */
export function Colleagues() {
  const { t, label } = useWords();
  const parts = useColumnParts();
  const me = useMe();
  const [inviting, invite] = useDisclosure();
  const [leaving, setLeaving] = useState<Account | null>(null);
  const staff = useQuery(companyQueries.staff());
  const fields: FieldsOf<Schemas['CompanyStaffInput']> = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'email', label: t('field.email'), kind: 'email', required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
    {
      name: 'role',
      label: t('field.role'),
      kind: 'radios',
      required: true,
      // The one that may less first.
      choices: StaffRole.toReversed().map((value) => ({
        value,
        label: t(`role.${value}`),
        hint: t(`company.role.${value}`),
      })),
    },
  ];
  return (
    <Card
      title={t('provider.staff')}
      aside={
        <Button size="compact-xs" variant="default" className={ui.push} onClick={invite.open}>
          {t('company.invite')}
        </Button>
      }
    >
      <Answer query={staff}>
        {({ data }) => (
          <MiniTable
            label={t('provider.staff')}
            rows={data}
            rowId={({ id }) => id}
            columns={[
              parts.plain<Account>('name', t('field.name'), 1, ({ name }) => name),
              parts.plain<Account>('email', t('field.email'), 1, ({ email }) => email),
              parts.plain<Account>('phone', t('field.phone'), 1, ({ phone }) => phone),
              parts.plain<Account>('role', t('field.role'), 1, (row) => label(row, 'role')),
              parts.created<Account>(),
              {
                id: 'remove',
                header: '',
                width: 1,
                align: 'end',
                text: () => '',
                cell: (row) =>
                  row.id === me.id ? (
                    t('company.you')
                  ) : (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      color="red"
                      aria-label={`${t('action.delete')} ${row.name}`}
                      onClick={() => {
                        setLeaving(row);
                      }}
                    >
                      {t('action.delete')}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Answer>
      <FormDialog
        opened={inviting}
        close={invite.close}
        title={t('company.invite')}
        fields={fields}
        initial={{ role: 'PROVIDER_STAFF' }}
        submitLabel={t('company.invite')}
        changes={[companyQueries.all]}
        done=""
        submit={async (values) => {
          const { data } = await answered(
            api.POST('/api/v1/provider/staff', { body: bodyOf<Schemas['CompanyStaffInput']>(fields, values) }),
          );
          return new Said(t('company.invited', { email: data.email }));
        }}
      >
        <p className={ui.text}>{t('company.inviteHint')}</p>
      </FormDialog>
      {leaving && (
        <FormDialog
          opened
          close={() => {
            setLeaving(null);
          }}
          title={t('action.delete')}
          fields={[]}
          submitLabel={t('action.delete')}
          danger
          changes={[companyQueries.all]}
          done={t('done.removed', { name: leaving.name })}
          submit={() =>
            answered(api.DELETE('/api/v1/provider/staff/{staff_id}', { params: { path: { staff_id: leaving.id } } }))
          }
        >
          <p className={ui.text}>
            <bdi>{leaving.name}</bdi> · <bdi>{leaving.email}</bdi>
          </p>
          <p className={ui.text}>{t('company.removeHint')}</p>
        </FormDialog>
      )}
    </Card>
  );
}
