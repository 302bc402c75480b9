import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import type { RecordFilters } from '@/api/queries/records';
import ui from '@/components/ui.module.css';
import type { List } from '@/hooks/useList';
import { useWords } from '@/i18n/useWords';

interface Props {
  list: List<Schemas['FinancialRecord']>;
  filters: RecordFilters;
  ids: ReadonlySet<string>;
  select: (ids: ReadonlySet<string>) => void;
}

/**
 * Selects all lines of a company that the filters find and that are still to be transferred, after reading them to the end: what is
 * marked is what was seen and added up, and a line that is added later is not among it.
 */
export function SelectFound({ list, filters, ids, select }: Props) {
  const { t } = useWords();
  const [failed, setFailed] = useState(false);
  if (!filters.provider_id || filters.balance_status !== 'IN_CURRENT_BALANCE') return null;
  if (list.total === 0 || ids.size > 0) return null;

  const selectAll = async () => {
    setFailed(false);
    const found = await list.readAll();
    setFailed(found === null);
    if (found) select(new Set(found.map(({ id }) => id)));
  };

  return (
    <div className={ui.row}>
      <Button size="xs" variant="light" disabled={list.readingAll} onClick={() => void selectAll()}>
        {list.readingAll
          ? t('ledger.reading', { done: list.rows.length, count: list.total })
          : t('ledger.selectFound', { count: list.total })}
      </Button>
      {failed && (
        <span role="alert" className={ui.notice}>
          {t('ledger.notWhole')}
        </span>
      )}
    </div>
  );
}
