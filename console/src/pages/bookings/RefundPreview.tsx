import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Schemas } from '@/api/client';
import { previewQueries } from '@/api/queries/refunds';
import { Answer } from '@/components/Card';
import type { Column } from '@/components/columns';
import { Facts } from '@/components/Facts';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import type { Values } from '@/forms/fields';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { dayText } from '@/lib/dates';
import { amountOf, amountText, moneyText, sumOf } from '@/lib/money';
import { accountText } from '@/shared/accounts';

type Preview = Schemas['RefundPreview'];
type Line = Schemas['PreviewedLine'];

/** What a preview is of: the parts of the form that decide about money. */
export const previewKey = ({ refund_type = '', amount = '' }: Values) =>
  refund_type === 'PARTIAL' ? `PARTIAL ${amount.trim()}` : refund_type;

/** A preview that is in sight: what it is of, and what the order is held to. */
export interface Shown {
  key: string;
  amount: number;
  payment: string;
  needsApproval: boolean;
  currency: string;
}

interface Props {
  bookingId: string;
  values: Values;
  /** Called with the preview that is in sight, and with null when there is none. */
  onShown: (shown: Shown | null) => void;
}

/** What the refund would do, from the API, which writes nothing for it: amount, ledger entries, transfers, and the booking after it. */
export function RefundPreview({ bookingId, values, onShown }: Props) {
  const { t } = useWords();
  const [key] = useDebouncedValue(previewKey(values), 350);
  const [type = ''] = key.split(' ');
  // A pasted amount may have a space in it: `SAR 1,050.25`.
  const typed = key.slice(type.length + 1);
  const query = useQuery({
    ...previewQueries.ofForm(bookingId, key, {
      refund_type: type as Schemas['RefundType'],
      ...(type === 'PARTIAL' && { amount: amountOf(typed)?.toFixed(2) ?? typed }),
    }),
    enabled: type !== '' && key !== 'PARTIAL ',
  });

  const shown = query.isSuccess ? query.data.data : null;
  useEffect(() => {
    onShown(
      shown && {
        key,
        amount: shown.amount,
        payment: shown.payment_transaction_id,
        needsApproval: shown.needs_approval,
        currency: shown.currency,
      },
    );
  }, [key, shown, onShown]);

  if (type === '' || key === 'PARTIAL ') return <p className={ui.text}>{t('preview.typeAmount')}</p>;
  return (
    <section className={ui.stack} aria-label={t('preview.title')} aria-live="polite">
      <Answer query={query} lines={6} labels={{ amount: t('field.amount') }}>
        {({ data }) => <Effects of={data} />}
      </Answer>
    </section>
  );
}

/** Who bears a refund: what goes out of the accounts that are the company's and the platform's own. */
export function usePayers(preview: Preview | undefined): string | null {
  const { t, language } = useWords();
  if (!preview) return null;
  const sums = new Map<'company' | 'platform', number>();
  for (const { debit_account, amount } of preview.transfers) {
    const [owner, name = ''] = debit_account.split(':');
    const payer = owner === 'provider' ? 'company' : owner === 'platform' && name !== 'bank' ? 'platform' : null;
    if (payer) sums.set(payer, sumOf([sums.get(payer) ?? 0, amount]));
  }
  if (sums.size === 0) return null;
  return [...sums]
    .map(([payer, amount]) => t(`preview.payer.${payer}`, { amount: moneyText(amount, language, preview.currency) }))
    .join(t('list.and'));
}

/** What it does, for who orders it, and for who decides about an `ordered` one: they are the approval that it needs. */
export function Effects({ of: preview, ordered = false }: { of: Preview; ordered?: boolean }) {
  const { t, language } = useWords();
  const payers = usePayers(preview);
  const { word } = useChoices();
  const money = (amount: number) => <Money amount={amount} currency={preview.currency} />;
  const { booking_status: before, booking_status_after: after } = preview;
  return (
    <>
      <Facts
        of={[
          [
            t('preview.goesBack'),
            <b key="v">
              {money(preview.amount)} · {word(preview.channel)}
            </b>,
          ],
          [
            t('cancel.arrives'),
            preview.expected_by && t('cancel.arrivesBy', { when: dayText(preview.expected_by, language) }),
          ],
          [t('preview.paidBy'), payers],
          [t('cancel.fee'), preview.fee_amount !== undefined && preview.fee_amount > 0 && money(preview.fee_amount)],
          [t('preview.leftThen'), money(preview.remaining_amount)],
          [
            t('field.outsideRefunded'),
            preview.outside_refunded_amount > 0 ? money(preview.outside_refunded_amount) : null,
          ],
          [t('preview.booking'), before === after ? word(after) : t('preview.becomes', { after: word(after) })],
          [t('preview.seatsFreed'), preview.seats_freed > 0 ? preview.seats_freed : null],
        ]}
      />
      {preview.needs_approval && !ordered && (
        <p className={ui.notice} role="note">
          {t('refund.willNeedApproval')}
        </p>
      )}
      <Lines preview={preview} />
      <details>
        <summary className={ui.small}>{t('preview.transfers', { count: preview.transfers.length })}</summary>
        <Transfers transfers={preview.transfers} currency={preview.currency} />
      </details>
    </>
  );
}

/** The line as it is, and what would be written in its place. */
function Lines({ preview }: { preview: Preview }) {
  const { t, language } = useWords();
  const { word, balance } = useChoices();
  const rows = [
    ...(preview.line ? [{ ...preview.line, now: true }] : []),
    ...preview.lines.map((line) => ({ ...line, now: false })),
  ];
  type Row = Line & { now: boolean };
  const plain = (id: string, header: string, text: (row: Row) => string): Column<Row> => ({
    id,
    header,
    width: 1,
    cell: text,
    text,
  });
  const money = (id: 'gross_amount' | 'vat_amount' | 'platform_commission_amount' | 'net_amount'): Column<Row> => ({
    id,
    header: t(`card.${id}`),
    width: 1,
    align: 'end',
    // All of one currency, which stands above.
    cell: (row) => <span className="ltr numbers">{amountText(row[id], language)}</span>,
    text: (row) => row[id].toFixed(2),
  });
  if (rows.length === 0) return <p className={ui.text}>{t('preview.noLines')}</p>;
  return (
    <MiniTable
      label={t('preview.lines')}
      rows={rows}
      rowId={(row) => String(rows.indexOf(row))}
      columns={[
        plain('when', t('preview.line'), ({ now }) => t(now ? 'preview.now' : 'preview.after')),
        // One column, so that the amounts, the company's above all, are not cut.
        plain('kind', t('field.kind'), ({ kind, balance_status }) => `${word(kind)} · ${balance(balance_status)}`),
        money('gross_amount'),
        money('vat_amount'),
        money('platform_commission_amount'),
        money('net_amount'),
      ]}
    />
  );
}

function Transfers({ transfers, currency }: { transfers: Preview['transfers']; currency: string }) {
  const { t } = useWords();
  return (
    <MiniTable
      label={t('preview.transfers', { count: transfers.length })}
      rows={transfers}
      rowId={({ kind, debit_account, credit_account }) => `${kind} ${debit_account} ${credit_account}`}
      columns={[
        ...(['debit_account', 'credit_account'] as const).map((side): Column<(typeof transfers)[number]> => ({
          id: side,
          header: t(`preview.${side}`),
          width: 1,
          cell: (row) => <span title={row[side]}>{accountText(row[side], t)}</span>,
          text: (row) => row[side],
        })),
        {
          id: 'amount',
          header: t('field.amount'),
          width: 1,
          align: 'end',
          cell: ({ amount }) => <Money amount={amount} currency={currency} />,
          text: ({ amount }) => amount.toFixed(2),
        },
      ]}
    />
  );
}
