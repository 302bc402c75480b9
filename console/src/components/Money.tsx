import { useWords } from '@/i18n/useWords';
import { amountText } from '@/lib/money';
import classes from './ui.module.css';

/** An amount with its currency, the same way round in both languages. */
export function Money({ amount, currency = 'SAR' }: { amount: number; currency?: string }) {
  const { language } = useWords();
  return (
    <span className={classes.money}>
      {amountText(amount, language)}
      <small>{currency}</small>
    </span>
  );
}
