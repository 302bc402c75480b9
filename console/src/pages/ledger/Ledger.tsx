import { useState } from 'react';
import { listPage, type Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices, words } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useSelected } from '@/hooks/useSelected';
import { useWords } from '@/i18n/useWords';
import { useRecordColumns } from '@/shared/columns';
import { ExportMenu } from '@/shared/ExportMenu';
import { BalanceCard } from './BalanceCard';
import { RecordDetail } from './RecordDetail';
import { Transfer } from './Transfer';

type FinancialRecord = Schemas['FinancialRecord'];

export function Component() {
  const { t } = useWords();
  const may = useMay();
  const { choices } = useChoices();
  const base = useBaseFilters();
  const providers = useProviders();
  const selected = useSelected<FinancialRecord>(({ id }) => id);
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const change = (with_: (next: Set<string>) => void) => {
    setIds((before) => {
      const next = new Set(before);
      with_(next);
      return next;
    });
  };
  return (
    <ListPage
      name="ledger"
      filters={[
        base.search(t('ledger.search')),
        { name: 'balance_status', label: t('field.status'), kind: 'choice', choices: choices(words.balanceStatus) },
        providers.filter,
        base.period,
        base.from,
        base.to,
        base.booking,
        { name: 'ad_campaign_id', label: t('field.campaignId'), kind: 'text' },
      ]}
      columns={useRecordColumns()}
      queryKey={['records']}
      read={(filters, cursor, signal) => listPage('/api/v1/admin/financial-records', filters, cursor, signal)}
      rowId={({ id }) => id}
      sort="-record_date"
      open={selected.open}
      {...(may('MarkRecordsTransferred') && {
        selection: {
          ids,
          toggle: (id: string) => {
            change((next) => {
              if (!next.delete(id)) next.add(id);
            });
          },
          toggleAll: (all: string[]) => {
            change((next) => {
              const add = !all.every((id) => next.has(id));
              for (const id of all) {
                if (add) next.add(id);
                else next.delete(id);
              }
            });
          },
        },
      })}
      actions={(_, filters) => <ExportMenu filters={filters} />}
      above={({ rows }, filters) => (
        <>
          {filters['provider_id'] && <BalanceCard providerId={filters['provider_id']} />}
          <Transfer
            records={rows.filter(({ id }) => ids.has(id))}
            clear={() => {
              setIds(new Set());
            }}
          />
          <RecordDetail record={selected.current(rows)} opened={selected.opened} close={selected.close} />
        </>
      )}
    />
  );
}
