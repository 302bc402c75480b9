import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { previewQueries } from '@/api/queries/refunds';
import { Answer } from '@/components/Card';
import { Facts } from '@/components/Facts';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { Effects } from '@/pages/bookings/RefundPreview';
import { reasonText } from '@/shared/paymentState';

/** Whose money it is, and what the refund will do: what its requester saw, for the person who decides about it. */
export function OrderedPreview({ refund }: { refund: Schemas['Refund'] }) {
  const { t, language } = useWords();
  const preview = useQuery({
    ...previewQueries.ordered(refund.id),
    enabled: refund.booking_id !== null && refund.status === 'PENDING',
  });
  return (
    <>
      <Facts
        of={[
          [t('field.customer'), refund.customer_name && <bdi key="v">{refund.customer_name}</bdi>],
          [t('field.trip'), refund.trip_title && <bdi key="v">{refund.trip_title}</bdi>],
          [t('field.provider'), refund.provider_name && <bdi key="v">{refund.provider_name}</bdi>],
          [t('refund.requestedBy'), refund.requested_by_name && <bdi key="v">{refund.requested_by_name}</bdi>],
          [t('field.reason'), <bdi key="v">{reasonText(refund, language) ?? t('refund.noReason')}</bdi>],
        ]}
      />
      {refund.booking_id !== null && refund.status === 'PENDING' && (
        <section className={ui.stack} aria-label={t('preview.title')}>
          <Answer query={preview} lines={6}>
            {({ data }) => <Effects of={data} ordered />}
          </Answer>
        </section>
      )}
    </>
  );
}
