import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconCloudUp,
  IconMapOff,
  IconRepeat,
  IconTicketOff,
  type Icon,
} from '@tabler/icons-react';
import type { Tone } from '@/components/Badge';
import { useWords } from '@/i18n/useWords';
import { timeText } from '@/lib/dates';
import type { Outcome, Verdict } from './judge';
import classes from './check-in.module.css';

const looks: Record<Verdict, [Tone, Icon]> = {
  CHECKED_IN: ['good', IconCircleCheck],
  SAVED: ['good', IconCloudUp],
  UNLISTED: ['warn', IconAlertTriangle],
  ALREADY: ['warn', IconRepeat],
  CANCELLED: ['bad', IconTicketOff],
  OTHER_TRIP: ['bad', IconMapOff],
  INVALID: ['bad', IconCircleX],
};

/** What became of the passenger who stands there: in words, by colour and by a sign of its own. */
export function Result({ outcome, idle }: { outcome: Outcome | null; idle: string }) {
  const { t, language } = useWords();
  // It stays in the document: only then is what changes in it read aloud.
  return (
    <div role="status" aria-live="assertive" aria-atomic="true">
      {outcome ? (
        <Said outcome={outcome} time={outcome.at ? timeText(outcome.at, language) : ''} />
      ) : (
        <p className={classes.idle}>{idle}</p>
      )}
      <span className="hidden-words">{outcome && t('checkIn.next')}</span>
    </div>
  );
}

function Said({ outcome: { verdict, name, booking }, time }: { outcome: Outcome; time: string }) {
  const { t } = useWords();
  const [tone, Sign] = looks[verdict];
  return (
    <div className={classes.result} data-tone={tone} data-verdict={verdict}>
      <Sign size={44} stroke={1.8} aria-hidden />
      <div className={classes.what}>
        <strong>
          {verdict === 'ALREADY' && time !== '' ? t('checkIn.already', { time }) : t(`checkIn.verdict.${verdict}`)}
        </strong>
        {name && (
          <span>
            <bdi>{name}</bdi> {booking && <bdi className="ltr">{booking}</bdi>}
          </span>
        )}
        <span>{t(`checkIn.do.${verdict}`)}</span>
      </div>
    </div>
  );
}
