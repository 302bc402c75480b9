import { SegmentedControl, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import type { Schemas } from '@/api/client';
import { useDashboardEvents } from '@/api/events';
import { dashboardQueries } from '@/api/queries/dashboard';
import { isProvider, useMay, useMe } from '@/app/me';
import { Answer, Card } from '@/components/Card';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { Attention } from './Attention';
import { Cards } from './Cards';
import classes from './overview.module.css';

const Chart = lazy(() => import('./Chart'));

export function Component() {
  const me = useMe();
  const may = useMay();
  const figures = isProvider(me) || may('GetDashboard');
  return (
    <div className={ui.page}>
      {figures ? (
        <Figures provider={isProvider(me)} />
      ) : (
        <>
          <PageHead title={<Title />} help="overview" />
          <Attention />
        </>
      )}
    </div>
  );
}

function Title() {
  const { t } = useWords();
  return <>{t('nav.overview')}</>;
}

function Figures({ provider }: { provider: boolean }) {
  const { t } = useWords();
  const isLive = useDashboardEvents(
    provider ? '/api/v1/provider/dashboard/events' : '/api/v1/admin/dashboard/events',
    dashboardQueries.all,
  );
  const dashboard = useQuery(dashboardQueries.cards(provider));
  return (
    <>
      <PageHead title={<Title />} help="overview">
        <span className={classes.live} data-live={isLive || undefined}>
          {isLive ? t('overview.live') : t('overview.notLive')}
          {' · '}
          {dashboard.data ? <When at={dashboard.data.data.as_of} relative /> : '…'}
        </span>
      </PageHead>
      {dashboard.isPending ? (
        <Periods today={undefined} month={undefined} provider={provider} />
      ) : (
        <Answer query={dashboard}>
          {({ data }) => <Periods today={data.today} month={data.this_month} provider={provider} />}
        </Answer>
      )}
      {!provider && <Attention />}
      <Series provider={provider} />
    </>
  );
}

type Days = Schemas['DashboardPeriod'] | undefined;

function Periods({ today, month, provider }: { today: Days; month: Days; provider: boolean }) {
  const { t } = useWords();
  return (
    <div className={ui.columns}>
      <Cards title={t('overview.today')} period={today} provider={provider} />
      <Cards title={t('overview.month')} period={month} provider={provider} />
    </div>
  );
}

type Period = Extract<Schemas['CalendarPeriod'], 'this_week' | 'this_month'>;

function Series({ provider }: { provider: boolean }) {
  const { t } = useWords();
  const [params, setParams] = useSearchParams();
  const period: Period = params.get('period') === 'this_week' ? 'this_week' : 'this_month';
  const report = useQuery(dashboardQueries.series(provider, period));
  return (
    <Card
      title={t('overview.series')}
      aside={
        <SegmentedControl
          size="xs"
          className={ui.push}
          value={period}
          onChange={(next) => {
            setParams(next === 'this_month' ? {} : { period: next }, { replace: true });
          }}
          data={[
            { value: 'this_week', label: t('period.this_week') },
            { value: 'this_month', label: t('period.this_month') },
          ]}
        />
      }
    >
      {/* As high as the chart with its legend, before it is there. */}
      <div className={classes.series}>
        <Answer query={report} lines={8}>
          {({ data }) => (
            <Suspense fallback={<Skeleton height={280} />}>
              <Chart series={data.series} />
            </Suspense>
          )}
        </Answer>
      </div>
    </Card>
  );
}
