import type { Schemas } from '@/api/client';
import { recordQueries } from '@/api/queries/records';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useSelected } from '@/hooks/useSelected';
import { useWords } from '@/i18n/useWords';
import { BalanceCard } from '@/pages/ledger/BalanceCard';
import { RecordDetail } from '@/pages/ledger/RecordDetail';
import { useRecordColumns } from '@/shared/columns';

type FinancialRecord = Schemas['FinancialRecord'];

export function Component() {
  const { t } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const selected = useSelected<FinancialRecord>(({ id }) => id);
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
      list={recordQueries.own}
      rowId={({ id }) => id}
      sort="-record_date"
      open={selected.open}
      above={({ rows }) => (
        <>
          <BalanceCard />
          <RecordDetail own record={selected.current(rows)} opened={selected.opened} close={selected.close} />
        </>
      )}
    />
  );
}
