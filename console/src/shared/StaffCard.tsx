import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { UseQueryResult, QueryKey } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { Answer, Card } from '@/components/Card';
import { MiniTable } from '@/components/MiniTable';
import ui from '@/components/ui.module.css';
import type { Field, Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { StaffRole } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from './columns';

type Account = Schemas['Staff'];

interface Props<N extends string> {
  staff: UseQueryResult<{ data: Account[] }>;
  /** What is old after a change. */
  changes: readonly QueryKey[];
  /** How one is added: what the button says, and what its form does. */
  add: {
    label: string;
    submitLabel?: string;
    fields: readonly Field<N>[];
    hint?: string;
    submit: (values: Values) => Promise<unknown>;
  };
  /** How one is removed. */
  remove: (id: string) => Promise<unknown>;
  removeHint?: string;
  /** The account that is signed in, which does not remove itself. */
  me?: string;
}

/** What every account of a company has. */
export function useStaffFields() {
  const { t } = useWords();
  return {
    who: [
      { name: 'name', label: t('field.name'), required: true },
      { name: 'email', label: t('field.email'), kind: 'email', required: true },
      { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
    ],
    // The one that may less first.
    roles: StaffRole.toReversed().map((value) => ({ value, label: t(`role.${value}`) })),
  } as const;
}

/** The accounts that act for a company: they are added and removed. */
export function StaffCard<N extends string>({ staff, changes, add, remove, removeHint, me }: Props<N>) {
  const { t, label } = useWords();
  const parts = useColumnParts();
  const [adding, dialog] = useDisclosure();
  const [leaving, setLeaving] = useState<Account | null>(null);
  const removal = (row: Account): ReactNode =>
    row.id === me ? (
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
    );
  return (
    <Card
      title={t('provider.staff')}
      aside={
        <Button size="compact-xs" variant="default" className={ui.push} onClick={dialog.open}>
          {add.label}
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
              { id: 'remove', header: '', width: 1, align: 'end', text: () => '', cell: removal },
            ]}
          />
        )}
      </Answer>
      <FormDialog
        opened={adding}
        close={dialog.close}
        title={add.label}
        fields={add.fields}
        initial={{ role: 'PROVIDER_STAFF' }}
        submitLabel={add.submitLabel ?? add.label}
        changes={changes}
        done=""
        submit={add.submit}
      >
        {add.hint !== undefined && <p className={ui.text}>{add.hint}</p>}
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
          changes={changes}
          done={t('done.removed', { name: leaving.name })}
          submit={() => remove(leaving.id)}
        >
          <p className={ui.text}>
            <bdi>{leaving.name}</bdi> · <bdi>{leaving.email}</bdi>
          </p>
          {removeHint !== undefined && <p className={ui.text}>{removeHint}</p>}
        </FormDialog>
      )}
    </Card>
  );
}
