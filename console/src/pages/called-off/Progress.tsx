import { Progress as Bar } from '@mantine/core';
import type { CSSProperties } from 'react';
import type { Schemas } from '@/api/client';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { countText, moneyText } from '@/lib/money';
import classes from './called-off.module.css';
import { sharesOf } from './standing';

const colours = { succeeded: 'var(--good)', pending: 'var(--warn)', failed: 'var(--bad)' };

/** How far the cancellation of a trip is: its bookings, and their refunds. */
export function Progress({ of }: { of: Schemas['TripCancellation'] }) {
  const { t, language } = useWords();
  const count = (number: number) => countText(number, language);
  const money = (amount: number) => moneyText(amount, language, of.currency);
  const shares = sharesOf(of);
  const bookings = t('calledOff.cancelled', { done: count(of.cancelled), total: count(of.bookings) });
  const refunded = t('calledOff.refunded', { done: money(of.refunded_total), total: money(of.refund_total) });
  const parts = [
    ['succeeded', 'SUCCEEDED', of.refunds_succeeded],
    ['pending', 'PENDING', of.refunds_pending],
    ['failed', 'FAILED', of.refunds_failed],
  ] as const;
  return (
    <div className={ui.stack}>
      <div>
        <span>{bookings}</span>
        <Bar className={classes.bar} value={shares.cancelled} size="lg" aria-label={bookings} />
      </div>
      {of.bookings > 0 && (
        <div>
          <span>{refunded}</span>
          <Bar.Root className={classes.bar} size="lg" role="img" aria-label={refunded}>
            {parts.map(([name]) => (
              <Bar.Section key={name} value={shares[name]} color={colours[name]} withAria={false} />
            ))}
          </Bar.Root>
          <ul className={classes.legend} aria-label={t('calledOff.refunds')}>
            {parts.map(([name, state, number]) => (
              <li key={name} style={{ '--part': colours[name] } as CSSProperties}>
                {t(`state.refund.${state}`)}: <b className="numbers">{count(number)}</b>
              </li>
            ))}
            {of.refunds_by_hand > 0 && (
              <li style={{ '--part': 'transparent' } as CSSProperties}>
                {t('refund.needsPayout')}: <b className="numbers">{count(of.refunds_by_hand)}</b>
              </li>
            )}
          </ul>
        </div>
      )}
    </div>
  );
}
