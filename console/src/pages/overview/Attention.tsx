import { useQueries } from '@tanstack/react-query';
import { Link } from 'react-router';
import { listPage } from '@/api/client';
import type { Operation } from '@/api/access';
import { useMay } from '@/app/me';
import { Card } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import classes from './overview.module.css';

type Name = 'approvals' | 'payouts' | 'incidents' | 'refundsUnderWay';

interface Wait {
  name: Name;
  operation: Operation;
  list: '/api/v1/admin/refunds' | '/api/v1/admin/incidents';
  page: string;
  filters: Record<string, string>;
  urgent: boolean;
}

const waits: Wait[] = [
  {
    name: 'approvals',
    operation: 'ApproveRefund',
    list: '/api/v1/admin/refunds',
    page: '/refunds',
    filters: { needs_approval: 'true' },
    urgent: true,
  },
  {
    name: 'payouts',
    operation: 'ListRefunds',
    list: '/api/v1/admin/refunds',
    page: '/refunds',
    filters: { needs_payout: 'true' },
    urgent: true,
  },
  {
    name: 'incidents',
    operation: 'ListIncidents',
    list: '/api/v1/admin/incidents',
    page: '/incidents',
    filters: { status: 'OPEN' },
    urgent: true,
  },
  {
    name: 'refundsUnderWay',
    operation: 'ListRefunds',
    list: '/api/v1/admin/refunds',
    page: '/refunds',
    filters: { status: 'PENDING' },
    urgent: false,
  },
];

/** What waits for a decision of people, as links to the lists that show it. */
export function Attention({ live }: { live: string }) {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();
  const shown = waits.filter(({ operation }) => may(operation));
  const counts = useQueries({
    queries: shown.map(({ name, list, filters }) => ({
      queryKey: [live, 'waits', name],
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await listPage(list, filters, null, signal)).meta.total,
      refetchInterval: 60_000,
    })),
  });
  return (
    <Card title={t('overview.attention')}>
      <ul className={classes.waits}>
        {shown.map(({ name, page, filters, urgent }, index) => {
          const count = counts[index];
          return (
            <li key={name}>
              <Link
                to={`${page}?${new URLSearchParams(filters).toString()}`}
                data-urgent={(urgent && (count?.data ?? 0) > 0) || undefined}
              >
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
