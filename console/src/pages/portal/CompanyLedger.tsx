import { recordQueries } from '@/api/queries/records';
import { Beside } from '@/components/Beside';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside } from '@/hooks/useBeside';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { BalanceCard } from '@/pages/ledger/BalanceCard';
import { RecordDetail } from '@/pages/ledger/RecordDetail';
import { useRecordColumns } from '@/shared/columns';

const card = { title: ['number'], amount: 'net_amount', badge: 'status', meta: ['kind', 'date'] };

export function Component() {
  const { t } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const { open } = useBeside();
  // A company has no page of bookings to go to.
  const columns = useRecordColumns(true).filter(({ id }) => id !== 'booking');
  return (
    <ListPage
      name="company-ledger"
      filters={[
        base.search(t('ledger.search')),
        { name: 'balance_status', label: t('field.status'), kind: 'choice', choices: states('balance') },
        base.period,
        base.from,
        base.to,
        base.booking,
      ]}
      columns={columns}
      card={card}
      list={recordQueries.own}
      rowId={({ id }) => id}
      sort="-record_date"
      open={open}
      above={({ rows, data }) => (
        <>
          <BalanceCard />
          <Beside rows={rows} read={data !== undefined} title={t('field.line')}>
            {(record, { opened, close }) => <RecordDetail own record={record} opened={opened} close={close} />}
          </Beside>
        </>
      )}
    />
  );
}
