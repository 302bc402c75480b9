import { Skeleton } from '@mantine/core';
import type { Schemas } from '@/api/client';
import { Card } from '@/components/Card';
import { Money } from '@/components/Money';
import { Day } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';
import classes from './overview.module.css';

const amounts = [
  'gross_amount',
  'net_amount',
  'refunded_amount',
  'platform_commission_amount',
  'vat_amount',
  'in_current_balance_amount',
  'transferred_amount',
  'advertising_revenue_amount',
] as const;

const counts = ['bookings_count', 'campaigns_count', 'refunds_count'] as const;

export function Cards({
  title,
  period,
  provider,
}: {
  title: string;
  /** Undefined while it is read: everything has its place already. */
  period: Schemas['DashboardPeriod'] | undefined;
  provider: boolean;
}) {
  const { t, language } = useWords();
  return (
    <Card
      title={title}
      aside={
        <small className="dimmed">
          {period && <Day day={period.date_from} />}
          {period && period.date_from !== period.date_to && (
            <>
              {' – '}
              <Day day={period.date_to} />
            </>
          )}
          {'\u00a0'}
        </small>
      }
    >
      <dl className={classes.cards} aria-busy={period === undefined}>
        {counts.map((name) => (
          <div key={name}>
            <dt>{t(`card.${name}`)}</dt>
            <dd className="numbers">{period ? countText(period.cards[name], language) : <Empty />}</dd>
          </div>
        ))}
        {amounts.map((name) => (
          <div key={name}>
            <dt>{name === 'net_amount' && provider ? t('card.net_own') : t(`card.${name}`)}</dt>
            <dd>{period ? <Money amount={period.cards[name]} /> : <Empty />}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** The place of a figure that is not there yet. */
const Empty = () => <Skeleton component="span" display="inline-block" height="0.8em" width="60%" />;
