import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { answered, api, listPage, type Schemas } from '@/api/client';
import { ListPage } from '@/components/ListPage';
import { bodyOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices, words } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { rateText } from '@/lib/money';
import { useColumnParts } from '@/shared/columns';
import { useProviderFields } from './fields';

type Provider = Schemas['Provider'];

export function Component() {
  const { t, language } = useWords();
  const navigate = useNavigate();
  const { choices } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  return (
    <ListPage<Provider>
      name="providers"
      filters={[
        base.search(t('provider.search')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: choices(words.resourceStatus) },
      ]}
      columns={[
        parts.plain('name', t('field.name'), 11, ({ name }) => name, { sort: 'name' }),
        { ...parts.status(), sort: 'status' },
        parts.plain('city', t('field.city'), 6, ({ city }) => city),
        parts.plain(
          'rate',
          t('field.commissionRate'),
          8.5,
          ({ commission_rate }) => rateText(commission_rate, language),
          { align: 'end' },
        ),
        parts.plain('phone', t('field.phone'), 9, ({ phone }) => phone),
        parts.plain('email', t('field.email'), 10.25, ({ email }) => email),
        parts.created(),
        parts.id(t('field.id'), true),
      ]}
      queryKey={['providers']}
      read={(filters, cursor, signal) => listPage('/api/v1/admin/providers', filters, cursor, signal)}
      rowId={({ id }) => id}
      defaults={{ sort: 'name' }}
      open={({ id }) => void navigate(`/providers/${id}`)}
      actions={<NewProvider />}
    />
  );
}

function NewProvider() {
  const { t } = useWords();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const fields = useProviderFields();
  return (
    <>
      <Button size="xs" leftSection={<IconPlus size={14} />} onClick={open}>
        {t('provider.new')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('provider.new')}
        fields={fields}
        submitLabel={t('action.save')}
        changes={['providers']}
        submit={async (values) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/providers', { body: bodyOf<Schemas['ProviderInput']>(fields, values, true) }),
          );
          await navigate(`/providers/${data.id}`);
        }}
      />
    </>
  );
}
