import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { tripMoves } from '@/api/queries/trip-moves';
import { useMay } from '@/app/me';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { localOf, momentOf } from '@/lib/dates';
import { countText, moneyText } from '@/lib/money';

/** The departure that a form holds, as the API wants it; null while it is none, or is as it was. */
function movedTo(trip: Schemas['Trip'], typed = ''): string | null {
  // The field has no seconds.
  if (typed === localOf(trip.departure_at)) return null;
  const at = momentOf(typed);
  return Number.isNaN(Date.parse(at)) ? null : at;
}

/** How many customers get a message when the trip's departure is changed to what is typed, and what that entitles them to. */
export function Moved({ trip, departure }: { trip: Schemas['Trip']; departure: string | undefined }) {
  const { t } = useWords();
  const may = useMay();
  const typed = movedTo(trip, departure);
  const [at] = useDebouncedValue(typed, 350);
  const asked = trip.status === 'PUBLISHED' && may('PreviewReschedule') && typed !== null;
  const found = useQuery({ ...tripMoves.preview(trip.id, at ?? ''), enabled: asked && at === typed });
  if (!asked) return null;
  return (
    <div className={ui.notice} role="status" aria-busy={found.isPending || typed !== at}>
      {found.isError ? (
        <ErrorMessage error={found.error} retry={() => void found.refetch()} />
      ) : found.data && typed === at ? (
        <Told of={found.data.data} />
      ) : (
        t('portal.moveCounting')
      )}
    </div>
  );
}

function Told({ of }: { of: Schemas['ReschedulePreview'] }) {
  const { t, language } = useWords();
  const sentences = [
    of.bookings === 0
      ? t('portal.moveNone')
      : t('portal.moveTold', { count: of.bookings, seats: t('count.seats', { count: of.seats }) }),
  ];
  if (of.refundable_bookings > 0)
    sentences.push(
      t('portal.moveFree', {
        count: of.refundable_bookings,
        amount: moneyText(of.refundable_total, language, of.currency),
      }),
    );
  else if (of.bookings > 0) sentences.push(t('portal.moveNoRefund'));
  if (of.unpaid_bookings > 0)
    sentences.push(t('portal.moveUnpaid', { number: countText(of.unpaid_bookings, language) }));
  return sentences.join(' ');
}
