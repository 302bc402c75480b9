import type { Schemas } from '@/api/client';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { moneyText } from '@/lib/money';
import { Timeline } from '@/shared/Timeline';
import classes from '@/shared/timeline.module.css';
import { sentence, type Entry } from '@/shared/timeline';
import { storyOf, type Happening } from './story';

/** The events that tell most; all of them, with the facts behind them, are folded below. */
export function Story({ booking, entries }: { booking: Schemas['Booking']; entries: Entry[] }) {
  const { t } = useWords();
  const tell = useTell();
  return (
    <>
      <ol className={classes.list}>
        {storyOf(booking, entries).map((one, index) => (
          <li key={index} data-kind={one.kind === 'line' ? one.entry.kind : toneOf(one)}>
            <div className={classes.line}>
              <bdi>{tell(one)}</bdi>
              <span className={ui.small}>
                <When at={one.at} />
              </span>
            </div>
          </li>
        ))}
      </ol>
      <details>
        <summary className={ui.small}>{t('booking.allEvents', { count: entries.length })}</summary>
        <Timeline entries={entries} />
      </details>
    </>
  );
}

/** The colours that lines of histories have. */
function toneOf(one: Happening): Entry['kind'] {
  const { kind } = one;
  if (kind === 'paid') return 'LEDGER';
  if (kind === 'failed') return one.code === 'EXPIRED' ? 'STATE_CHANGE' : 'INCIDENT';
  return kind === 'booked' ? 'STATE_CHANGE' : 'REFUND';
}

function useTell() {
  const { t, language, label } = useWords();
  return (one: Happening): string => {
    switch (one.kind) {
      case 'line': {
        // The gateway's own id of a refund stands in the whole list.
        const facts = { ...one.entry.facts };
        delete facts.gateway_refund_id;
        return sentence({ ...one.entry, facts }, t, language, (at) => momentText(at, language));
      }
      case 'paid':
        return t('booking.event.paid', { amount: moneyText(one.amount, language, one.currency) });
      case 'failed':
        // Nothing has failed when the time to pay is over.
        if (one.code === 'EXPIRED') return t('failure.EXPIRED');
        return `${t('booking.event.failed')}${one.code ? ` (${t(`failure.${one.code}`, { defaultValue: one.code })})` : ''}`;
      case 'decided':
        return t('booking.event.decided', { status: label(one.request, 'status') });
      default:
        return t(`booking.event.${one.kind}`, { who: t('count.passengers', { count: one.passengers }) });
    }
  };
}
