import { useCallback, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import { recordQueries } from '@/api/queries/records';
import { useMay } from '@/app/me';
import { Beside } from '@/components/Beside';
import { Detail } from '@/components/Detail';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside, usePanel } from '@/hooks/useBeside';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { useRecordColumns } from '@/shared/columns';
import { LedgerExports } from '@/shared/ExportMenu';
import { Exports } from '@/shared/Exports';
import { BalanceCard } from './BalanceCard';
import { Balances } from './Balances';
import { RecordDetail } from './RecordDetail';
import { SelectFound } from './SelectFound';
import { Totals } from './Totals';
import { Transfer } from './Transfer';

const card = {
  title: ['provider', 'number'],
  amount: 'net_amount',
  badge: 'status',
  meta: ['booking', 'kind', 'date'],
};

export function Component() {
  const { t, language } = useWords();
  const may = useMay();
  const { states } = useChoices();
  const base = useBaseFilters();
  const providers = useProviders();
  const { open } = useBeside();
  const history = usePanel('exports');
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  // What is selected is of the list that is seen: with other filters nothing is.
  const address = useSearchParams()[0].toString();
  const [before, setBefore] = useState(address);
  if (before !== address) {
    setBefore(address);
    setIds(new Set());
  }
  const toggle = useCallback((id: string) => {
    setIds((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const toggleAll = useCallback((all: string[]) => {
    setIds((before) => {
      if (!all.every((id) => before.has(id))) return new Set([...before, ...all]);
      const less = new Set(before);
      for (const id of all) less.delete(id);
      return less;
    });
  }, []);
  const all = useRecordColumns();
  // The same columns while the language stays, so that a page that is added does not draw the rows before it anew.
  // eslint-disable-next-line react-hooks/exhaustive-deps -- what the columns hold changes with the language alone
  const columns = useMemo(() => all, [language]);
  return (
    <ListPage
      name="ledger"
      filters={[
        base.search(t('ledger.search')),
        { name: 'balance_status', label: t('field.status'), kind: 'choice', choices: states('balance') },
        providers.filter,
        base.period,
        base.from,
        base.to,
        base.booking,
        { name: 'ad_campaign_id', label: t('field.campaign'), kind: 'given' },
      ]}
      columns={columns}
      card={card}
      list={recordQueries.list}
      rowId={({ id }) => id}
      sort="-record_date"
      open={open}
      {...(may('MarkRecordsTransferred') && { selection: { ids, toggle, toggleAll } })}
      actions={<Balances />}
      exports={(filters) => <LedgerExports filters={filters} history={history.open} />}
      above={(list, filters) => (
        <>
          {filters.provider_id && <BalanceCard providerId={filters.provider_id} />}
          {may('GetFinancialRecordTotals') && <Totals filters={filters} />}
          {may('MarkRecordsTransferred') && <SelectFound list={list} filters={filters} ids={ids} select={setIds} />}
          <Transfer
            records={list.rows.filter(({ id }) => ids.has(id))}
            clear={() => {
              setIds(new Set());
            }}
          />
          <Detail opened={history.opened} close={history.close} title={t('export.history')}>
            <Exports kind="FINANCIAL_RECORDS" />
          </Detail>
          <Beside rows={list.rows} read={list.data !== undefined} title={t('field.line')}>
            {(record, { opened, close }) => <RecordDetail record={record} opened={opened} close={close} />}
          </Beside>
        </>
      )}
    />
  );
}
