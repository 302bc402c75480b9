import { useQueries } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Operation } from '@/api/access';
import type { FilterValues } from '@/api/client';
import { cancellationQueries } from '@/api/queries/cancellations';
import { dashboardQueries } from '@/api/queries/dashboard';
import { incidentQueries } from '@/api/queries/incidents';
import type { Collection } from '@/api/queries/lists';
import { refundQueries } from '@/api/queries/refunds';
import { trips } from '@/api/queries/resources';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { useMay } from '@/app/me';
import { Card } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import classes from './overview.module.css';

type Name = 'approvals' | 'callOffs' | 'payouts' | 'cancellations' | 'trips' | 'incidents' | 'refundsUnderWay';

interface Wait {
  name: Name;
  operation: Operation;
  /** The list that shows them. */
  to: string;
  query: ReturnType<typeof dashboardQueries.waits>;
  urgent: boolean;
}

/** The rows of a list that these filters find, on its page. */
const found = <F extends string>(
  name: Name,
  list: Collection<unknown, F>,
  filters: FilterValues<NoInfer<F>>,
  page: string,
): Pick<Wait, 'name' | 'to' | 'query'> => ({
  name,
  to: `${page}?${new URLSearchParams(filters as Record<string, string>).toString()}`,
  query: dashboardQueries.waits(name, list, filters),
});

const waits: Wait[] = [
  {
    ...found('approvals', refundQueries.list, { needs_approval: 'true' }, '/refunds'),
    operation: 'ApproveRefund',
    urgent: true,
  },
  {
    ...found('callOffs', tripCancellationQueries.list, { needs_approval: 'true' }, '/trip-cancellations'),
    operation: 'ApproveTripCancellation',
    urgent: true,
  },
  {
    ...found('payouts', refundQueries.list, { needs_payout: 'true' }, '/refunds'),
    operation: 'ListRefunds',
    urgent: true,
  },
  {
    ...found('cancellations', cancellationQueries.list, { status: 'REQUESTED' }, '/cancellation-requests'),
    operation: 'ListAllCancellationRequests',
    urgent: true,
  },
  {
    // Each is soon over, unless it waits for an approval or a booking cannot be cancelled.
    ...found('trips', trips.list, { status: 'CANCELLING' }, '/trips'),
    operation: 'ListProviderTrips',
    urgent: true,
  },
  {
    ...found('incidents', incidentQueries.list, { status: 'OPEN' }, '/incidents'),
    operation: 'ListIncidents',
    urgent: true,
  },
  {
    ...found('refundsUnderWay', refundQueries.list, { status: 'PENDING' }, '/refunds'),
    operation: 'ListRefunds',
    urgent: false,
  },
];

/** What waits for a decision of people, as links to the lists that show it. */
export function Attention() {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();
  const shown = waits.filter(({ operation }) => may(operation));
  const counts = useQueries({ queries: shown.map(({ query }) => query) });
  return (
    <Card title={t('overview.attention')}>
      <ul className={classes.waits}>
        {shown.map(({ name, to, urgent }, index) => {
          const count = counts[index];
          return (
            <li key={name}>
              <Link to={to} data-urgent={(urgent && (count?.data ?? 0) > 0) || undefined}>
                <b className="numbers">{count?.data === undefined ? '…' : countText(count.data, language)}</b>
                <span>{t(`wait.${name}`)}</span>
              </Link>
              {count?.isError && <span className={ui.small}>{text(count.error)}</span>}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
