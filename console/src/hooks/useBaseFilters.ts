import type { Filter } from '@/components/Filters';
import { CalendarPeriod } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';

/** Filters that several lists have. */
export function useBaseFilters() {
  const { t } = useWords();
  const search = (placeholder: string): Filter<'search'> => ({
    name: 'search',
    label: t('list.search'),
    kind: 'search',
    placeholder,
  });
  const period: Filter<'period'> = {
    name: 'period',
    label: t('field.period'),
    kind: 'choice',
    // One by its days has filters of its own.
    choices: CalendarPeriod.filter((value) => value !== 'custom').map((value) => ({
      value,
      label: t(`period.${value}`),
    })),
  };
  const from: Filter<'date_from'> = { name: 'date_from', label: t('field.from'), kind: 'day', end: true };
  const to: Filter<'date_to'> = { name: 'date_to', label: t('field.to'), kind: 'day', end: true };
  const booking: Filter<'booking_id'> = { name: 'booking_id', label: t('field.bookingNumber'), kind: 'given' };
  return { search, period, from, to, booking };
}
