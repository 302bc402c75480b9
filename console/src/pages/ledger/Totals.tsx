import { useQuery } from '@tanstack/react-query';
import { recordQueries, type RecordFilters } from '@/api/queries/records';
import { Answer } from '@/components/Card';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';

/** Filters that keep the lines to be added up few enough: of one company, one booking or campaign, or of some days. */
const narrow = [
  'provider_id',
  'booking_id',
  'ad_campaign_id',
  'period',
  'date_from',
  'search',
] as const satisfies (keyof RecordFilters)[];

const sums = ['gross_amount', 'vat_amount', 'platform_commission_amount', 'net_amount', 'refunded_amount'] as const;

/** What all lines that the filters find come to, also those that were not read yet. */
export function Totals({ filters }: { filters: RecordFilters }) {
  const { t, language } = useWords();
  const query = Object.fromEntries(Object.entries(filters).filter(([name]) => name !== 'sort'));
  const enabled = narrow.some((name) => name in query);
  const totals = useQuery({ ...recordQueries.totals(query), enabled });
  if (!enabled) return null;
  return (
    <section className={ui.totals} aria-label={t('ledger.found')}>
      <Answer query={totals} lines={1}>
        {({ data: { total, in_current_balance, transferred, currency } }) => (
          <>
            <span>
              {t('ledger.found')} <b className="numbers">{countText(total.count, language)}</b>
            </span>
            {sums.map(
              (name) =>
                total[name] !== undefined && (
                  <span key={name}>
                    {t(`ledger.sum.${name}`)}{' '}
                    <b>
                      <Money amount={total[name]} currency={currency} />
                    </b>
                  </span>
                ),
            )}
            <span>
              {t('ledger.toTransfer', { count: in_current_balance.count })}{' '}
              <b>
                <Money amount={in_current_balance.net_amount} currency={currency} />
              </b>
            </span>
            <span>
              {t('ledger.transferred', { count: transferred.count })}{' '}
              <b>
                <Money amount={transferred.net_amount} currency={currency} />
              </b>
            </span>
            <small>{t('ledger.sumHint')}</small>
          </>
        )}
      </Answer>
    </section>
  );
}
