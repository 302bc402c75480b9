import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { providerQueries } from '@/api/queries/providers';
import { recordQueries } from '@/api/queries/records';
import { useMay } from '@/app/me';
import type { Column } from '@/components/columns';
import { ListPage } from '@/components/ListPage';
import { Money } from '@/components/Money';
import { When } from '@/components/When';
import { bodyOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { rateText } from '@/lib/money';
import { useColumnParts } from '@/shared/columns';
import { useProviderFields } from './fields';

const balanceCard = { title: ['name'], amount: 'payable_amount', meta: ['last'] };
const companyCard = { title: ['name'], badge: 'status', meta: ['city', 'phone'] };

/** Administrators see companies as a whole; finance staff what they may of them: name and balance. */
export function Component() {
  const may = useMay();
  return may('ListProviders') ? <Companies /> : <CompanyBalances />;
}

function CompanyBalances() {
  const { t } = useWords();
  const navigate = useNavigate();
  const parts = useColumnParts();
  type Row = Schemas['ProviderBalance'];
  const money = (name: 'payable_amount' | 'paid_out_amount' | 'earned_amount', header: string): Column<Row> => ({
    id: name,
    header,
    width: 9,
    align: 'end',
    cell: ({ balance }) => <Money amount={balance[name]} currency={balance.currency} />,
    text: ({ balance }) => balance[name].toFixed(2),
  });
  const columns: Column<Row>[] = [
    parts.plain('name', t('field.name'), 12, ({ name }) => name, { sort: 'name' }),
    { ...money('payable_amount', t('balance.payable')), sort: 'payable_amount' },
    money('paid_out_amount', t('balance.paidOut')),
    money('earned_amount', t('balance.earned')),
    {
      id: 'last',
      header: t('balance.last'),
      width: 9,
      cell: ({ balance }) => <When at={balance.last_payout_at} relative />,
      text: ({ balance }) => balance.last_payout_at ?? '',
    },
  ];
  return (
    <ListPage
      name="providers"
      filters={[]}
      columns={columns}
      card={balanceCard}
      list={recordQueries.companies}
      rowId={({ id }) => id}
      defaults={{ sort: 'name' }}
      open={({ id }) => void navigate(`/ledger?provider_id=${id}`)}
    />
  );
}

function Companies() {
  const { t, language } = useWords();
  const navigate = useNavigate();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const columns: Column<Schemas['Provider']>[] = [
    parts.plain('name', t('field.name'), 11, ({ name }) => name, { sort: 'name' }),
    { ...parts.status(), sort: 'status' },
    parts.plain('city', t('field.city'), 6, ({ city }) => city),
    parts.plain('rate', t('field.commissionRate'), 8.5, ({ commission_rate }) => rateText(commission_rate, language), {
      align: 'end',
    }),
    parts.plain('phone', t('field.phone'), 9, ({ phone }) => phone),
    parts.plain('email', t('field.email'), 10.25, ({ email }) => email),
    parts.created(),
    parts.id(t('field.id'), true),
  ];
  return (
    <ListPage
      name="providers"
      filters={[
        base.search(t('provider.search')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('company') },
      ]}
      columns={columns}
      card={companyCard}
      list={providerQueries.list}
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
        changes={[providerQueries.all]}
        done=""
        submit={async (values) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/providers', { body: bodyOf<Schemas['ProviderInput']>(fields, values, true) }),
          );
          await navigate(`/providers/${data.id}`);
          return new Said(t('done.created', { name: data.name }));
        }}
      />
    </>
  );
}
