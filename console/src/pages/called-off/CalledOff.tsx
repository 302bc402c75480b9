import { Link, useParams } from 'react-router';
import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { isProvider, useMay, useMe } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Answer, Card } from '@/components/Card';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { WorkflowLink } from '@/components/WorkflowLink';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import { How, useCalledOff } from './How';

type Cancellation = Schemas['TripCancellation'];

/** The cancellation of a trip, for all who may read it; those who manage trips see it beside the trip, too. */
export function Component() {
  const { t, label } = useWords();
  const { id = '' } = useParams();
  const query = useCalledOff(id);
  const found = query.data?.data;
  const missing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <div className={ui.page}>
      <PageHead
        help="trip-cancellations"
        name={found?.trip_title ?? t('calledOff.title')}
        title={
          <span className={ui.row}>
            {found ? <bdi>{found.trip_title}</bdi> : t('calledOff.title')}
            {found && (
              <Badge state={found.needs_approval ? 'NEEDS_APPROVAL' : found.status}>
                {found.needs_approval ? t('calledOff.badge') : label(found, 'status')}
              </Badge>
            )}
          </span>
        }
      />
      {missing ? (
        <p className={ui.text}>{t('calledOff.none')}</p>
      ) : (
        <Answer query={query} lines={10}>
          {({ data }) => (
            <div className={ui.split}>
              <Card title={t('calledOff.progress')}>
                <div className={ui.stack}>
                  <How of={data} />
                </div>
              </Card>
              <div className={ui.stack}>
                <Order of={data} />
                <TripFacts of={data} />
              </div>
            </div>
          )}
        </Answer>
      )}
    </div>
  );
}

/** Who ordered what, and who decided. Sums are those of the moment of asking. */
function Order({ of }: { of: Cancellation }) {
  const { t, language } = useWords();
  const money = (amount: number) => <Money amount={amount} currency={of.currency} />;
  const count = (number: number) => <span className="numbers">{countText(number, language)}</span>;
  const person = (id: string, name: string | null) => (name === null ? <CopyId id={id} /> : <bdi>{name}</bdi>);
  return (
    <Card title={t('calledOff.order')}>
      <Facts
        of={[
          [t('calledOff.reason'), <bdi key="v">{of.reason}</bdi>],
          [t('calledOff.orderedBy'), person(of.requested_by, of.requested_by_name)],
          [t('calledOff.orderedAt'), <When key="v" at={of.requested_at} />],
          [t('calledOff.until'), of.needs_approval ? <When key="v" at={of.approval_until} ahead /> : null],
          [
            t('calledOff.above'),
            of.approval_until !== null && of.approval_above !== null ? money(of.approval_above) : null,
          ],
          [t('calledOff.decidedBy'), of.decided_by && person(of.decided_by, of.decided_by_name)],
          [t('calledOff.decidedAt'), of.decided_at && <When key="v" at={of.decided_at} />],
          [t('field.note'), of.note && <bdi key="v">{of.note}</bdi>],
          [t('calledOff.doneAt'), of.done_at && <When key="v" at={of.done_at} />],
          [t('calledOff.paid'), of.needs_approval ? count(of.bookings) : null],
          [t('calledOff.back'), <b key="v">{money(of.refund_total)}</b>],
          [t('preview.paidBy'), of.refund_total > 0 ? t('calledOff.share') : null],
          [t('calledOff.clawback'), of.clawback_total > 0 ? money(of.clawback_total) : null],
          [t('field.seats'), count(of.seats)],
          [t('calledOff.unpaid'), count(of.open_checkouts)],
          [t('calledOff.campaigns'), count(of.campaigns)],
          [t('field.id'), <CopyId key="v" id={of.id} whole />],
        ]}
      />
    </Card>
  );
}

function TripFacts({ of }: { of: Cancellation }) {
  const { t } = useWords();
  const may = useMay();
  const staff = !isProvider(useMe());
  const title = <bdi>{of.trip_title}</bdi>;
  return (
    <Card title={t('field.trip')}>
      <Facts
        of={[
          [
            t('field.title'),
            may('ListProviderTrips') ? (
              <Link key="v" to={`/trips?search=${encodeURIComponent(of.trip_title)}`}>
                {title}
              </Link>
            ) : (
              title
            ),
          ],
          [t('field.route'), <bdi key="v">{`${of.trip_origin} – ${of.trip_destination}`}</bdi>],
          [t('field.departure'), <When key="v" at={of.trip_departure_at} />],
          [
            t('field.provider'),
            staff ? (
              <Link key="v" to={`/providers/${of.provider_id}`}>
                <bdi>{of.provider_name}</bdi>
              </Link>
            ) : null,
          ],
          [
            t('booking.sameTrip'),
            may('ListBookings') ? (
              <Link key="v" to={`/bookings?trip_id=${of.trip_id}`}>
                {t('action.open')}
              </Link>
            ) : null,
          ],
          [
            t('field.workflow'),
            staff ? <WorkflowLink key="v" id={`trip-cancellation/${of.trip_id}`} url={of.workflow_url} /> : null,
          ],
          [t('field.id'), <CopyId key="v" id={of.trip_id} whole />],
        ]}
      />
    </Card>
  );
}
