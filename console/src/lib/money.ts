import type { Language } from '@/i18n';
import { numberText, withoutCurrency } from './input';

const formats = new Map<string, Intl.NumberFormat>();

/** Latin digits in both languages: people read them beside bank statements. */
const locales: Record<Language, string> = { en: 'en-SA-u-nu-latn', ar: 'ar-SA-u-nu-latn' };

const formatOf = (language: Language, digits: number) => {
  const key = `${language}${String(digits)}`;
  let format = formats.get(key);
  if (!format) {
    // The number is written the same way in both languages, so that columns can be compared by eye.
    format = new Intl.NumberFormat('en-SA-u-nu-latn', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(key, format);
  }
  return format;
};

/** An amount without its currency: `1,150.00`. */
export const amountText = (amount: number, language: Language) => formatOf(language, 2).format(amount);

/** A currency as the page's language writes it: `SAR`, `ر.س`. */
export const currencyText = (currency: string, language: Language) =>
  language === 'ar' && currency === 'SAR' ? 'ر.س' : currency;

/** An amount with its currency within a sentence, isolated from the direction of the words around it: `1,150.00 SAR`. */
export const moneyText = (amount: number, language: Language, currency = 'SAR') =>
  language === 'ar'
    ? `\u2067\u2066${amountText(amount, language)}\u2069\u00a0${currencyText(currency, language)}\u2069`
    : `\u2066${amountText(amount, language)}\u00a0${currency}\u2069`;

export const countText = (count: number, language: Language) => formatOf(language, 0).format(count);

const rates: Partial<Record<Language, Intl.NumberFormat>> = {};

/** A share of 0 to 1 as a percentage with at most two decimals. */
export const rateText = (rate: number, language: Language) =>
  (rates[language] ??= new Intl.NumberFormat(locales[language], {
    style: 'percent',
    maximumFractionDigits: 2,
  })).format(rate);

/** The sum of amounts, added in halalas: sums of binary fractions would drift. */
export const sumOf = (amounts: number[]) => amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0) / 100;

/**
 * What was typed or pasted as an amount of at least 0.01 with at most two decimals, also with the riyal beside it; null when it is none,
 * or may be two.
 */
export function amountOf(text: string): number | null {
  const written = numberText(withoutCurrency(text));
  if (written === null || !/^\d{1,12}(\.\d{1,2})?$/.test(written)) return null;
  const amount = Number(written);
  return amount >= 0.01 ? amount : null;
}
