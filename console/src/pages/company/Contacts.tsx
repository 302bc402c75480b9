import { Button } from '@mantine/core';
import { useState } from 'react';
import { answered, api, type Schemas } from '@/api/client';
import { companyQueries } from '@/api/queries/company';
import { useMay } from '@/app/me';
import { Card } from '@/components/Card';
import { MiniTable } from '@/components/MiniTable';
import ui from '@/components/ui.module.css';
import { bodyOf, valuesOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { CompanyMessage } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { ofContact, withContact, withoutContact, type Contact } from './contacts';

type Person = Schemas['CompanyContact'];

/** The most persons that a company has. */
const most = 10;

const save = (contact_persons: Contact[]) =>
  answered(api.PATCH('/api/v1/provider/company', { body: { contact_persons } }));

/** Which person is changed or removed, by the place in the list; a new one has none. */
type Doing = { what: 'add' } | { what: 'edit' | 'remove'; at: number };

/** Who gets mails about the company's bookings and money, and which. */
export function Contacts({ of }: { of: Person[] }) {
  const { t } = useWords();
  const parts = useColumnParts();
  const may = useMay()('PatchCompany');
  const [doing, setDoing] = useState<Doing | null>(null);
  const rows = of.map((person, at) => ({ ...person, at }));
  type Row = (typeof rows)[number];
  const messages = (row: Row) =>
    row.messages.length === CompanyMessage.length
      ? t('company.allMessages')
      : row.messages.map((one) => t(`company.message.${one}`)).join(t('company.and')) || t('company.noMessages');
  const act = (what: 'edit' | 'remove', row: Row) => (
    <Button
      size="compact-xs"
      variant="subtle"
      {...(what === 'remove' && { color: 'red' })}
      aria-label={`${t(what === 'edit' ? 'action.edit' : 'action.delete')} ${row.name}`}
      onClick={() => {
        setDoing({ what, at: row.at });
      }}
    >
      {t(what === 'edit' ? 'action.edit' : 'action.delete')}
    </Button>
  );
  return (
    <Card
      title={t('company.contacts')}
      aside={
        may &&
        of.length < most && (
          <Button
            size="compact-xs"
            variant="default"
            className={ui.push}
            onClick={() => {
              setDoing({ what: 'add' });
            }}
          >
            {t('company.addContact')}
          </Button>
        )
      }
    >
      <MiniTable
        label={t('company.contacts')}
        rows={rows}
        rowId={({ email }) => email}
        empty={t('company.noContacts')}
        columns={[
          parts.plain<Row>('name', t('field.name'), 1, ({ name }) => name),
          parts.plain<Row>('email', t('field.email'), 1, ({ email }) => email),
          parts.plain<Row>('phone', t('field.phone'), 1, ({ phone }) => phone ?? '–'),
          { id: 'messages', header: t('company.messages'), width: 1, cell: messages, text: messages },
          ...(may
            ? [
                {
                  id: 'act',
                  header: '',
                  width: 1,
                  align: 'end' as const,
                  text: () => '',
                  cell: (row: Row) => (
                    <>
                      {act('edit', row)} {act('remove', row)}
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
      {doing && (
        <Change
          key={`${doing.what}${'at' in doing ? doing.at : ''}`}
          of={of}
          doing={doing}
          close={() => {
            setDoing(null);
          }}
        />
      )}
    </Card>
  );
}

function Change({ of, doing, close }: { of: Person[]; doing: Doing; close: () => void }) {
  const { t } = useWords();
  const at = doing.what === 'add' ? null : doing.at;
  const [person] = useState(at === null ? undefined : of[at]);
  const fields: FieldsOf<Contact> = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'email', label: t('field.email'), kind: 'email', required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone' },
    {
      name: 'messages',
      label: t('company.messages'),
      kind: 'checks',
      choices: CompanyMessage.map((value) => ({ value, label: t(`company.message.${value}`) })),
    },
  ];
  if (doing.what === 'remove') {
    return (
      <FormDialog
        opened
        close={close}
        title={t('action.delete')}
        fields={[]}
        submitLabel={t('action.delete')}
        danger
        changes={[companyQueries.all]}
        done={t('done.removed', { name: person?.name ?? '' })}
        submit={() => save(withoutContact(of, doing.at))}
      >
        <p className={ui.text}>{t('company.removeContact', { name: person?.name ?? '' })}</p>
      </FormDialog>
    );
  }
  // A new person gets all messages until some are taken away.
  const initial = person
    ? { ...valuesOf<Person>(fields, person), messages: person.messages.join(',') }
    : { messages: CompanyMessage.join(',') };
  return (
    <FormDialog
      opened
      close={close}
      title={t(at === null ? 'company.addContact' : 'action.edit')}
      fields={fields}
      initial={initial}
      submitLabel={t('action.save')}
      changes={[companyQueries.all]}
      done={t('done.saved', { name: t('company.contacts') })}
      submit={async (values) => {
        try {
          return await save(withContact(of, at, bodyOf<Contact>(fields, values)));
        } catch (error) {
          throw ofContact(error, at ?? of.length);
        }
      }}
    />
  );
}
