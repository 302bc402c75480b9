import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { sumOf } from '@/lib/money';
import { MarkDialog } from './MarkDialog';

type FinancialRecord = Schemas['FinancialRecord'];

/** What the selected lines come to, and marking those as paid out that are still to be transferred. */
export function Transfer({ records, clear }: { records: FinancialRecord[]; clear: () => void }) {
  const { t } = useWords();
  // The lines as they were when the dialog was opened: what is marked meanwhile leaves the list, and not the dialog.
  const [marking, setMarking] = useState<FinancialRecord[] | null>(null);
  const open = records.filter(({ balance_status }) => balance_status === 'IN_CURRENT_BALANCE');
  if (records.length === 0 && marking === null) return null;
  return (
    <section className={ui.totals} aria-label={t('ledger.selected')}>
      <span>
        {t('ledger.selected')} <b className="numbers">{records.length}</b>
      </span>
      {open.length < records.length && (
        <span>
          {t('ledger.notOpen')} <b className="numbers">{records.length - open.length}</b>
        </span>
      )}
      <span>
        {t('card.gross_amount')}{' '}
        <b>
          <Money amount={sumOf(open.map(({ gross_amount }) => gross_amount))} />
        </b>
      </span>
      <span>
        {t('card.net_amount')}{' '}
        <b>
          <Money amount={sumOf(open.map(({ net_amount }) => net_amount))} />
        </b>
      </span>
      <Button
        size="compact-xs"
        disabled={open.length === 0}
        className={ui.push}
        onClick={() => {
          setMarking(open);
        }}
      >
        {t('ledger.mark', { count: open.length })}
      </Button>
      <Button size="compact-xs" variant="default" onClick={clear}>
        {t('ledger.selectNone')}
      </Button>
      {marking && (
        <MarkDialog
          records={marking}
          done={clear}
          close={() => {
            setMarking(null);
          }}
        />
      )}
    </section>
  );
}
