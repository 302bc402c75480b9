import { Button, Progress } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { outcomeUnknown } from '@/api/errors';
import { answered, api, type Schemas } from '@/api/client';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type Field } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { batchesOf } from '@/lib/batches';
import { sumOf } from '@/lib/money';

type FinancialRecord = Schemas['FinancialRecord'];

/** The most lines that the API marks at once. */
const most = 500;

/** Lines of a company, with what they come to. */
function totalsOf(records: FinancialRecord[]) {
  const companies = Map.groupBy(records, ({ provider_id }) => provider_id);
  return [...companies.entries()].map(([id, of]) => ({
    id,
    name: of[0]?.provider_name ?? id,
    count: of.length,
    gross: sumOf(of.map(({ gross_amount }) => gross_amount)),
    net: sumOf(of.map(({ net_amount }) => net_amount)),
  }));
}

/** Marks the selected lines as paid out: totals first, reference and date once. */
export function Transfer({ records, clear }: { records: FinancialRecord[]; clear: () => void }) {
  const { t } = useWords();
  const [opened, { open, close }] = useDisclosure();
  const [done, setDone] = useState(0);
  // The key that each batch was sent under, so that one without an answer, and those before it, are sent again and not anew.
  const sent = useRef(new Map<string, string>());

  const mark = async (ids: string[], body: Omit<Schemas['MarkRecordsTransferredRequest'], 'ids'>) => {
    const name = JSON.stringify([ids, body]);
    const key = sent.current.get(name) ?? crypto.randomUUID();
    sent.current.set(name, key);
    try {
      await answered(
        api.POST('/api/v1/admin/financial-records/mark-transferred', {
          params: { header: { 'Idempotency-Key': key } },
          body: { ...body, ids },
        }),
      );
    } catch (error) {
      if (!outcomeUnknown(error)) sent.current.delete(name);
      throw error;
    }
  };

  if (records.length === 0) return null;

  const open_ = records.filter(({ balance_status }) => balance_status === 'IN_CURRENT_BALANCE');
  const totals = totalsOf(open_);
  const fields: Field[] = [
    { name: 'payout_reference', label: t('field.payoutReference'), hint: t('ledger.referenceHint') },
    { name: 'payout_date', label: t('field.payoutDate'), kind: 'day' },
  ];

  return (
    <section className={ui.totals} aria-label={t('ledger.selected')}>
      <span>
        {t('ledger.selected')} <b className="numbers">{records.length}</b>
      </span>
      <span>
        {t('card.gross_amount')}{' '}
        <b>
          <Money amount={sumOf(records.map(({ gross_amount }) => gross_amount))} />
        </b>
      </span>
      <span>
        {t('card.net_amount')}{' '}
        <b>
          <Money amount={sumOf(records.map(({ net_amount }) => net_amount))} />
        </b>
      </span>
      <Button size="compact-xs" disabled={open_.length === 0} onClick={open} className={ui.push}>
        {t('ledger.mark', { count: open_.length })}
      </Button>
      <Button size="compact-xs" variant="default" onClick={clear}>
        {t('ledger.selectNone')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t('ledger.mark', { count: open_.length })}
        size="lg"
        fields={fields}
        submitLabel={t('ledger.markGo')}
        changes={['records', 'dashboard']}
        done={t('ledger.marked', { count: open_.length })}
        submit={async (values) => {
          const body = bodyOf<Omit<Schemas['MarkRecordsTransferredRequest'], 'ids'>>(fields, values, true);
          const batches = batchesOf(
            open_.map(({ id }) => id),
            most,
          );
          for (const [index, ids] of batches.entries()) {
            await mark(ids, body);
            setDone(index + 1);
          }
          sent.current.clear();
          setDone(0);
          clear();
        }}
      >
        <MiniTable
          label={t('field.provider')}
          rows={totals}
          rowId={({ id }) => id}
          columns={[
            {
              id: 'name',
              header: t('field.provider'),
              width: 1,
              cell: ({ name }) => <bdi>{name}</bdi>,
              text: ({ name }) => name,
            },
            {
              id: 'count',
              header: t('ledger.lines'),
              width: 1,
              align: 'end',
              cell: ({ count }) => count,
              text: ({ count }) => String(count),
            },
            {
              id: 'gross',
              header: t('card.gross_amount'),
              width: 1,
              align: 'end',
              cell: ({ gross }) => <Money amount={gross} />,
              text: () => '',
            },
            {
              id: 'net',
              header: t('card.net_amount'),
              width: 1,
              align: 'end',
              cell: ({ net }) => <Money amount={net} />,
              text: () => '',
            },
          ]}
        />
        {totals.length > 1 && <p className={ui.text}>{t('ledger.manyCompanies')}</p>}
        {open_.length < records.length && (
          <p className={ui.text}>{t('ledger.notOpen', { count: records.length - open_.length })}</p>
        )}
        {done > 0 && (
          <>
            <Progress
              value={(100 * done * most) / open_.length}
              aria-label={t('ledger.progress', { done: Math.min(done * most, open_.length), count: open_.length })}
            />
            <p className={ui.text}>
              {t('ledger.progress', { done: Math.min(done * most, open_.length), count: open_.length })}
            </p>
          </>
        )}
      </FormDialog>
    </section>
  );
}
