import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { refundQueries } from '@/api/queries/refunds';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { Day, When } from '@/components/When';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { RefundBadge } from '@/shared/columns';
import { failureText } from '@/shared/paymentState';
import { RefundActions } from './RefundActions';

/** A refund beside its list, read by itself: what is decided meanwhile is seen here, also once the list has lost it. */
export function RefundDetail({
  refund: row,
  opened,
  close,
}: {
  refund: Schemas['Refund'];
  opened: boolean;
  close: () => void;
}) {
  const { t, language } = useWords();
  const { word } = useChoices();
  const query = useQuery({ ...refundQueries.one(row.id), enabled: opened });
  const refund = query.data?.data ?? row;
  return (
    <Detail
      opened={opened}
      close={close}
      title={
        <span className={ui.row}>
          {t('refund.title')} <RefundBadge refund={refund} />
        </span>
      }
    >
      <RefundActions refund={refund} />
      <Facts
        of={[
          [t('field.amount'), <Money key="v" amount={refund.amount} currency={refund.currency} />],
          [
            t('field.bookingNumber'),
            refund.booking_id && (
              <Link key="v" className="ltr" to={`/bookings/${refund.booking_id}`}>
                {refund.booking_number ?? refund.booking_id}
              </Link>
            ),
          ],
          [
            t('field.payment'),
            <Link key="v" className="ltr" to={`/payments/${refund.payment_transaction_id}`}>
              …{refund.payment_transaction_id.slice(-8)}
            </Link>,
          ],
          [t('field.customer'), refund.customer_name && <bdi key="v">{refund.customer_name}</bdi>],
          [t('field.trip'), refund.trip_title && <bdi key="v">{refund.trip_title}</bdi>],
          [t('field.provider'), refund.provider_name && <bdi key="v">{refund.provider_name}</bdi>],
          [t('field.type'), word(refund.refund_type)],
          [t('refund.percent'), refund.policy_percent === null ? null : `${refund.policy_percent} %`],
          [t('field.channel'), word(refund.channel)],
          [t('refund.gatewayId'), refund.gateway_refund_id && <CopyId key="v" id={refund.gateway_refund_id} whole />],
          [t('refund.insteadOf'), refund.instead_of && <CopyId key="v" id={refund.instead_of} />],
          [t('field.reason'), refund.reason && <bdi key="v">{refund.reason}</bdi>],
          [t('refund.cause'), refund[`cause_label_${language}`]],
          [t('field.failure'), failureText(refund, language)],
          [
            t('refund.requestedBy'),
            refund.requested_by_name ? (
              <bdi key="v">{refund.requested_by_name}</bdi>
            ) : (
              refund.requested_by && <CopyId key="v" id={refund.requested_by} />
            ),
          ],
          [t('refund.approvalUntil'), refund.approval_until && <When key="v" at={refund.approval_until} />],
          [
            t('refund.decision'),
            refund.approval && (
              <span key="v">
                {word(refund.approval.decision)} · <When at={refund.approval.decided_at} />{' '}
                {refund.approval.decided_by_name && <bdi>{refund.approval.decided_by_name}</bdi>}
                {refund.approval.note && (
                  <>
                    {': '}
                    <bdi>{refund.approval[`note_${language}`]}</bdi>
                  </>
                )}
              </span>
            ),
          ],
          [
            t('field.payoutReference'),
            refund.payout_reference && <CopyId key="v" id={refund.payout_reference} whole />,
          ],
          [t('refund.payoutBy'), refund.payout_decided_by_name && <bdi key="v">{refund.payout_decided_by_name}</bdi>],
          [t('field.payoutDate'), refund.paid_out_on && <Day key="v" day={refund.paid_out_on} />],
          [t('field.note'), refund.payout_note && <bdi key="v">{refund[`payout_note_${language}`]}</bdi>],
          [t('refund.returned'), refund.returned_at && <When key="v" at={refund.returned_at} />],
          [t('field.created'), <When key="v" at={refund.created_at} />],
          [t('refund.completed'), refund.completed_at && <When key="v" at={refund.completed_at} />],
          [t('field.id'), <CopyId key="v" id={refund.id} whole />],
        ]}
      />
    </Detail>
  );
}
