import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { bookingQueries } from '@/api/queries/bookings';
import { trips } from '@/api/queries/resources';
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
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import { How, useCalledOff } from './How';

type Cancellation = Schemas['TripCancellation'];

/** The cancellation of a trip, for all who may read it; those who manage trips see it beside the trip, too. */
export function Component() {
  const { t, label } = useWords();
  const { id = '' } = useParams();
  const query = useCalledOff(id);
  const trip = useTrip(id);
  const found = query.data?.data;
  const missing = query.error instanceof ApiError && query.error.status === 404;
  return (
    <div className={ui.page}>
      <PageHead
        help="trips"
        name={trip.title ?? t('calledOff.title')}
        title={
          <span className={ui.row}>
            {trip.title ? <bdi>{trip.title}</bdi> : t('calledOff.title')}
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
                  <How of={data} providerId={trip.provider_id} />
                </div>
              </Card>
              <div className={ui.stack}>
                <Order of={data} />
                <TripFacts id={id} trip={trip} />
              </div>
            </div>
          )}
        </Answer>
      )}
    </div>
  );
}

type Known = Partial<Pick<Schemas['Trip'], 'title' | 'origin' | 'destination' | 'departure_at' | 'provider_id'>>;

/** What the role may read of the trip: finance and support staff read it from a booking. */
function useTrip(id: string): Known {
  const may = useMay();
  const manages = may('GetProviderTrip');
  const trip = useQuery({ ...trips.one(id), enabled: manages });
  const booking = useQuery({ ...bookingQueries.someOfTrip(id), enabled: !manages && may('ListBookings') });
  return trip.data?.data ?? booking.data?.data[0] ?? {};
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

function TripFacts({ id, trip }: { id: string; trip: Known }) {
  const { t } = useWords();
  const may = useMay();
  const staff = !isProvider(useMe());
  const providers = useProviders();
  const { title, provider_id: provider } = trip;
  return (
    <Card title={t('field.trip')}>
      <Facts
        of={[
          [
            t('field.title'),
            title && (
              <Link key="v" to={`/trips?search=${encodeURIComponent(title)}`}>
                <bdi>{title}</bdi>
              </Link>
            ),
          ],
          [t('field.route'), trip.origin && <bdi key="v">{`${trip.origin} – ${trip.destination ?? ''}`}</bdi>],
          [t('field.departure'), trip.departure_at && <When key="v" at={trip.departure_at} />],
          [
            t('field.provider'),
            staff && provider ? (
              <Link key="v" to={`/providers/${provider}`}>
                <bdi>{providers.nameOf(provider) ?? `…${provider.slice(-8)}`}</bdi>
              </Link>
            ) : null,
          ],
          [
            t('booking.sameTrip'),
            may('ListBookings') ? (
              <Link key="v" to={`/bookings?trip_id=${id}`}>
                {t('action.open')}
              </Link>
            ) : null,
          ],
          [t('field.workflow'), staff ? <WorkflowLink key="v" id={`trip-cancellation/${id}`} url={null} /> : null],
          [t('field.id'), <CopyId key="v" id={id} whole />],
        ]}
      />
    </Card>
  );
}
