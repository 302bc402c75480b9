import { useWords } from '@/i18n/useWords';
import { amountText, currencyText } from '@/lib/money';
import classes from './ui.module.css';

/**
 * An amount with its currency. The number is the same way round in both languages, and the currency behind it in the direction of the page:
 * the numbers of a column end at one edge. The space between the two is copied with them.
 */
export function Money({ amount, currency = 'SAR' }: { amount: number; currency?: string }) {
  const { language } = useWords();
  return (
    <span className={classes.money} dir={language === 'ar' ? 'rtl' : 'ltr'}>
      <bdi dir="ltr">{amountText(amount, language)}</bdi>
      {'\u00a0'}
      <small>{currencyText(currency, language)}</small>
    </span>
  );
}
