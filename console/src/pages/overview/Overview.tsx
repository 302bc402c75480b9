import { SegmentedControl, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import { answered, api, type Schemas } from '@/api/client';
import { useDashboardEvents } from '@/api/events';
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

/** The key below which everything is read again when the stream of events says so. */
const live = 'dashboard';

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
          <Attention live={live} />
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
    live,
  );
  const dashboard = useQuery({
    queryKey: [live, 'cards'],
    queryFn: ({ signal }) =>
      answered(
        provider ? api.GET('/api/v1/provider/dashboard', { signal }) : api.GET('/api/v1/admin/dashboard', { signal }),
      ),
  });
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
      {!provider && <Attention live={live} />}
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
  const report = useQuery({
    queryKey: [live, 'series', period],
    queryFn: ({ signal }) => {
      const init = { params: { query: { period } }, signal };
      return answered(
        provider
          ? api.GET('/api/v1/provider/financial-reports/summary', init)
          : api.GET('/api/v1/admin/financial-reports/summary', init),
      );
    },
  });
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
