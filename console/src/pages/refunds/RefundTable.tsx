import type { Schemas } from '@/api/client';
import { refundQueries } from '@/api/queries/refunds';
import { Beside } from '@/components/Beside';
import type { Column } from '@/components/columns';
import { MiniTable } from '@/components/MiniTable';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { Day } from '@/components/When';
import { useBeside } from '@/hooks/useBeside';
import { useWords } from '@/i18n/useWords';
import { useRefundColumns } from '@/shared/columns';
import { RefundDetail } from './RefundDetail';

/** The refunds of a booking or a payment; one of them, and what can be decided about it, beside them. */
export function RefundTable({
  refunds,
  back,
}: {
  refunds: Schemas['Refund'][];
  /** The same ones as the customer is shown them: with the day by which the money is there. */
  back?: Schemas['BookingRefund'][] | undefined;
}) {
  const { t } = useWords();
  const { open } = useBeside();
  const columns = useRefundColumns().filter(
    ({ id }) => !['booking', 'payout', 'amount', 'customer', 'provider'].includes(id),
  );
  const amount: Column<Schemas['Refund']> = {
    id: 'amount',
    header: t('field.amount'),
    width: 8,
    cell: (row) => (
      <button
        type="button"
        className={ui.link}
        onClick={() => {
          open(row);
        }}
      >
        <span className="hidden-words">{t('booking.openRefund')} </span>
        <Money amount={row.amount} currency={row.currency} />
      </button>
    ),
    text: (row) => row.amount.toFixed(2),
  };
  const by: Column<Schemas['Refund']> = {
    id: 'by',
    header: t('booking.by'),
    width: 8,
    cell: (row) => <Day day={back?.find(({ id }) => id === row.id)?.expected_by} />,
    text: (row) => back?.find(({ id }) => id === row.id)?.expected_by ?? '',
  };
  const [status, ...rest] = columns;
  const shown = back && status ? [amount, status, by, ...rest] : [amount, ...columns];
  return (
    <>
      <MiniTable label={t('nav.refunds')} rows={refunds} columns={shown} rowId={({ id }) => id} />
      <Beside rows={refunds} read title={t('refund.title')} one={refundQueries.one}>
        {(refund, { opened, close }) => <RefundDetail refund={refund} opened={opened} close={close} />}
      </Beside>
    </>
  );
}
