import { Button, TextInput } from '@mantine/core';
import { IconScale } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { recordQueries } from '@/api/queries/records';
import { useMay } from '@/app/me';
import { Answer } from '@/components/Card';
import type { Column } from '@/components/columns';
import { Detail } from '@/components/Detail';
import { MiniTable } from '@/components/MiniTable';
import { More } from '@/components/More';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { usePanel } from '@/hooks/useBeside';
import { usePages } from '@/hooks/usePages';
import { useWords } from '@/i18n/useWords';
import { momentOf } from '@/lib/dates';

type Row = Schemas['ProviderBalance'];

/** All companies by what they are owed, the most first; choosing one shows what it is made of. */
export function Balances() {
  const { t } = useWords();
  const may = useMay();
  const { opened, open, close } = usePanel('balances');
  if (!may('ListProviderBalances')) return null;
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconScale size={14} />} onClick={open}>
        {t('balance.all')}
      </Button>
      <Detail opened={opened} close={close} title={t('balance.all')}>
        <Companies />
      </Detail>
    </>
  );
}

function Companies() {
  const { t } = useWords();
  const [at, setAt] = useState('');
  const list = usePages(recordQueries.balances({ sort: '-payable_amount', ...(at && { as_of: momentOf(at) }) }));
  const money = (name: 'payable_amount' | 'paid_out_amount'): Column<Row> => ({
    id: name,
    header: t(name === 'payable_amount' ? 'balance.payable' : 'balance.paidOut'),
    width: 8,
    align: 'end',
    cell: ({ balance }) => <Money amount={balance[name]} currency={balance.currency} />,
    text: ({ balance }) => balance[name].toFixed(2),
  });
  const columns: Column<Row>[] = [
    {
      id: 'name',
      header: t('field.provider'),
      width: 10,
      cell: ({ id, name }) => (
        // The list is open by the address, so that a link closes it; closing it, too, would go back.
        <Link to={`/ledger?provider_id=${id}&balance_status=IN_CURRENT_BALANCE`}>
          <bdi>{name}</bdi>
        </Link>
      ),
      text: ({ name }) => name,
    },
    money('payable_amount'),
    money('paid_out_amount'),
    {
      id: 'last',
      header: t('balance.last'),
      width: 8,
      cell: ({ balance }) => <When at={balance.last_payout_at} relative />,
      text: ({ balance }) => balance.last_payout_at ?? '',
    },
  ];
  return (
    <>
      <TextInput
        size="xs"
        type="datetime-local"
        label={t('balance.asOf')}
        value={at}
        onChange={(event) => {
          setAt(event.currentTarget.value);
        }}
      />
      <p className={ui.text}>{t('balance.choose')}</p>
      <Answer query={list}>
        {(found) => <MiniTable label={t('balance.all')} rows={found} columns={columns} rowId={({ id }) => id} />}
      </Answer>
      <More list={list} />
    </>
  );
}
