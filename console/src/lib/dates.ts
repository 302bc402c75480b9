import type { Language } from '@/i18n';

/** The zone of business days and of everything that is shown. */
export const zone = 'Asia/Riyadh';

const locales: Record<Language, string> = { en: 'en-GB', ar: 'ar-SA-u-nu-latn-ca-gregory' };

type Style = 'moment' | 'exact' | 'day' | 'weekday' | 'time';

const styles: Record<Style, Intl.DateTimeFormatOptions> = {
  moment: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  exact: { dateStyle: 'full', timeStyle: 'medium', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  weekday: { weekday: 'short', day: 'numeric', month: 'short' },
  time: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
};

const formats = new Map<string, Intl.DateTimeFormat>();

function formatted(value: Date, language: Language, style: Style, timeZone: string): string {
  const key = `${language}${style}${timeZone}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(locales[language], { ...styles[style], timeZone });
    formats.set(key, format);
  }
  return format.format(value);
}

/** A moment in Riyadh: `25 Nov 2026, 22:14`. */
export const momentText = (at: string, language: Language) => formatted(new Date(at), language, 'moment', zone);

/** The same with weekday and seconds. */
export const exactText = (at: string, language: Language) => formatted(new Date(at), language, 'exact', zone);

/** The time of day in Riyadh: `22:14`. */
export const timeText = (at: string, language: Language) => formatted(new Date(at), language, 'time', zone);

/** A business day, which is a date of its own and in no zone: `25 Nov 2026`. */
export const dayText = (day: string, language: Language) =>
  formatted(new Date(`${day}T00:00:00Z`), language, 'day', 'UTC');

export const weekdayText = (day: string, language: Language) =>
  formatted(new Date(`${day}T00:00:00Z`), language, 'weekday', 'UTC');

/** The business day of a moment in Riyadh, `YYYY-MM-DD`. */
export const dayIn = (at: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at);

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

// Making a format takes longer than using it a hundred times.
const agoFormats: Partial<Record<Language, Intl.RelativeTimeFormat>> = {};

/** How long ago, or how far ahead: `3 hours ago`. */
export function relativeText(at: string, now: number, language: Language): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  const format = (agoFormats[language] ??= new Intl.RelativeTimeFormat(locales[language], { numeric: 'auto' }));
  return format.format(Math.trunc(seconds / size), unit);
}

/** What a field for a moment in Riyadh holds, as the API wants it. */
export const momentOf = (local: string) => `${local.length === 16 ? `${local}:00` : local}+03:00`;

/** A moment as a field for a moment in Riyadh holds it. */
export function localOf(at: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(at),
  );
  return parts.replace(' ', 'T');
}

/** The day so many days later, or earlier. */
export const daysFrom = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);

/**
 * A period with both of its ends: of the one that is missing becomes today, or as far away as a period of the API reaches, which is
 * 366 days.
 */
export function wholePeriod(filters: Record<string, string>, today = dayIn(new Date())): Record<string, string> {
  const { date_from: from = '', date_to: to = '' } = filters;
  if ((from === '') === (to === '')) return filters;
  if (from === '') return { ...filters, date_from: daysFrom(to, -365) };
  const latest = daysFrom(from, 365);
  return { ...filters, date_to: from <= today && today < latest ? today : latest };
}

/** What changes with a filter: a period by its name and one by its days exclude each other. */
export function periodChange(name: string, value: string): Record<string, string> {
  if (value === '') return { [name]: value };
  if (name === 'period') return { period: value, date_from: '', date_to: '' };
  if (name === 'date_from' || name === 'date_to') return { [name]: value, period: '' };
  return { [name]: value };
}
