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
  period: Schemas['DashboardPeriod'];
  provider: boolean;
}) {
  const { t, language } = useWords();
  const oneDay = period.date_from === period.date_to;
  return (
    <Card
      title={title}
      aside={
        <small className="dimmed">
          <Day day={period.date_from} />
          {!oneDay && (
            <>
              {' – '}
              <Day day={period.date_to} />
            </>
          )}
        </small>
      }
    >
      <dl className={classes.cards}>
        {counts.map((name) => (
          <div key={name}>
            <dt>{t(`card.${name}`)}</dt>
            <dd className="numbers">{countText(period.cards[name], language)}</dd>
          </div>
        ))}
        {amounts.map((name) => (
          <div key={name}>
            <dt>{name === 'net_amount' && provider ? t('card.net_own') : t(`card.${name}`)}</dt>
            <dd>
              <Money amount={period.cards[name]} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
