import { Progress } from '@mantine/core';
import { useRef, useState } from 'react';
import { stillUnknown } from '@/api/errors';
import { answered, api, type Schemas } from '@/api/client';
import { dashboardQueries } from '@/api/queries/dashboard';
import { recordQueries } from '@/api/queries/records';
import type { Column } from '@/components/columns';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { useReferenceCheck } from '@/forms/useReferenceCheck';
import { Said } from '@/forms/Toast';
import { useWords } from '@/i18n/useWords';
import { batchesOf } from '@/lib/batches';
import { dayIn } from '@/lib/dates';
import { moneyText, sumOf } from '@/lib/money';

type FinancialRecord = Schemas['FinancialRecord'];
type Marks = Omit<Schemas['MarkRecordsTransferredRequest'], 'ids'>;

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

/** Marks lines, at most as many as the API takes at once, under a key that stays the same for the same lines. */
function useMark() {
  // The key that each batch was sent under, so that one without an answer, and those before it, are sent again and not anew.
  const sent = useRef(new Map<string, string>());
  return async (ids: string[], body: Marks) => {
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
      if (!stillUnknown(error)) sent.current.delete(name);
      throw error;
    }
  };
}

/** Marks lines as paid out: totals first, reference and date once. */
export function MarkDialog({
  records,
  done,
  close,
}: {
  records: FinancialRecord[];
  done: () => void;
  close: () => void;
}) {
  const { t, language } = useWords();
  const mark = useMark();
  const [marked, setMarked] = useState(0);
  const count = records.length;
  const totals = totalsOf(records);
  const fields: FieldsOf<Marks> = [
    { name: 'payout_reference', label: t('field.payoutReference'), required: true, hint: t('ledger.referenceHint') },
    { name: 'payout_date', label: t('field.payoutDate'), kind: 'day', required: true },
  ];
  const reference = useReferenceCheck();
  return (
    <FormDialog
      opened
      close={close}
      title={t('ledger.mark', { count })}
      size="lg"
      fields={fields}
      initial={{ payout_date: dayIn(new Date()) }}
      submitLabel={({ payout_reference = '' }) =>
        t(reference.confirms(payout_reference) ? 'reference.useAgain' : 'ledger.markOf', {
          amount: moneyText(sumOf(records.map(({ net_amount }) => net_amount)), language),
        })
      }
      changes={[recordQueries.all, dashboardQueries.all]}
      done=""
      keyed
      submit={async (values) => {
        const body = bodyOf<Marks>(fields, values, true);
        const batches = batchesOf(
          records.map(({ id }) => id),
          most,
        );
        for (const [index, ids] of batches.entries()) {
          // The first of several batches says for all whether the reference is new: the others have it by then.
          const fresh = index === 0 && !reference.confirms(body.payout_reference ?? '');
          await reference.checked(body.payout_reference ?? '', () =>
            mark(ids, fresh ? { ...body, reference_must_be_new: true } : body),
          );
          setMarked(Math.min((index + 1) * most, count));
        }
        done();
        return new Said({
          text: t('ledger.marked', { count }),
          to: `/ledger?search=${encodeURIComponent(body.payout_reference ?? '')}`,
          label: t('ledger.showMarked'),
        });
      }}
    >
      <MiniTable label={t('field.provider')} rows={totals} rowId={({ id }) => id} columns={useColumns()} />
      {totals.length > 1 && <p className={ui.text}>{t('ledger.manyCompanies')}</p>}
      {marked > 0 && (
        <>
          <Progress value={(100 * marked) / count} aria-label={t('ledger.progress', { done: marked, count })} />
          <p className={ui.text}>{t('ledger.progress', { done: marked, count })}</p>
        </>
      )}
    </FormDialog>
  );
}

function useColumns(): Column<ReturnType<typeof totalsOf>[number]>[] {
  const { t } = useWords();
  return [
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
      text: ({ gross }) => gross.toFixed(2),
    },
    {
      id: 'net',
      header: t('card.net_amount'),
      width: 1,
      align: 'end',
      cell: ({ net }) => <Money amount={net} />,
      text: ({ net }) => net.toFixed(2),
    },
  ];
}
