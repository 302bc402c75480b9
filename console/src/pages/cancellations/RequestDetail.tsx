import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { bookingQueries } from '@/api/queries/bookings';
import { cancellationQuotes } from '@/api/queries/cancellations';
import { refundQueries } from '@/api/queries/refunds';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { RefundBadge } from '@/shared/columns';
import { Decide } from './Decide';
import { Terms } from './Terms';

type Request = Schemas['CancellationRequest'];

/** A request beside its list. `asking`: what its approval would do is not known yet. */
export function RequestDetail({
  request,
  asking,
  opened,
  close,
}: {
  request: Request;
  asking: boolean;
  opened: boolean;
  close: () => void;
}) {
  const { t, label } = useWords();
  const may = useMay();
  const isOpen = request.status === 'REQUESTED';
  const today = useQuery({
    ...cancellationQuotes.of(request.booking_id, request.passenger_ids),
    enabled: opened && isOpen,
  });
  return (
    <Detail
      opened={opened}
      close={close}
      title={
        <span className={ui.row}>
          {t('cancellation.title')} <Badge state={request.status}>{label(request, 'status')}</Badge>
        </span>
      }
    >
      {isOpen && may('ApproveCancellation') && <Decide request={request} asking={asking} />}
      {isOpen && !may('ApproveCancellation') && <p className={ui.text}>{t('cancellation.onlyReads')}</p>}
      <Ordered request={request} />
      <Terms request={request} today={isOpen ? today : null} />
      <RequestFacts request={request} />
    </Detail>
  );
}

/** What was ordered with the approval, and whether it waits for a second person. */
function Ordered({ request: { refund_id } }: { request: Request }) {
  const { t } = useWords();
  const refund = useQuery({ ...refundQueries.one(refund_id ?? ''), enabled: refund_id !== null });
  if (refund_id === null) return null;
  return (
    <Answer query={refund} lines={1}>
      {({ data }) => (
        <>
          {data.needs_approval && (
            <p className={ui.notice} role="status">
              {t('cancellation.waits')}
            </p>
          )}
          <div className={ui.row}>
            {t('refund.title')} <Money amount={data.amount} currency={data.currency} /> <RefundBadge refund={data} />
            <Link to={`/refunds?booking_id=${data.booking_id ?? ''}`}>{t('action.open')}</Link>
          </div>
        </>
      )}
    </Answer>
  );
}

function RequestFacts({ request }: { request: Request }) {
  const { t } = useWords();
  return (
    <Facts
      of={[
        [
          t('field.bookingNumber'),
          <Link key="v" className="ltr" to={`/bookings/${request.booking_id}`}>
            {request.booking_number}
          </Link>,
        ],
        [t('cancellation.whose'), <Passengers key="v" request={request} />],
        [t('cancellation.reason'), request.reason ? <bdi key="v">{request.reason}</bdi> : t('refund.noReason')],
        [t('field.customer'), request.customer_name && <bdi key="v">{request.customer_name}</bdi>],
        [t('field.trip'), request.trip_title && <bdi key="v">{request.trip_title}</bdi>],
        [t('field.departure'), request.departure_at && <When key="v" at={request.departure_at} />],
        [t('field.provider'), request.provider_name && <bdi key="v">{request.provider_name}</bdi>],
        [t('cancellation.requestedAt'), <When key="v" at={request.requested_at} />],
        [
          t('cancellation.decidedAt'),
          request.decided_at && (
            <span key="v">
              <When at={request.decided_at} />
              {request.decided_by_name && (
                <>
                  {' · '}
                  <bdi>{request.decided_by_name}</bdi>
                </>
              )}
              {request.status === 'APPROVED' && request.decided_by === null && ` · ${t('cancellation.byService')}`}
            </span>
          ),
        ],
        [t('cancellation.note'), request.note && <bdi key="v">{request.note}</bdi>],
        [t('field.id'), <CopyId key="v" id={request.id} whole />],
      ]}
    />
  );
}

/** Their names, which the booking has. */
function Passengers({ request }: { request: Request }) {
  const booking = useQuery(bookingQueries.one(request.booking_id));
  return (
    <Answer query={booking} lines={1}>
      {({ data }) => (
        <ul className={ui.bare}>
          {data.passengers
            .filter(({ id }) => id !== undefined && request.passenger_ids.includes(id))
            .map(({ id, name }) => (
              <li key={id}>
                <bdi>{name}</bdi>
              </li>
            ))}
        </ul>
      )}
    </Answer>
  );
}
