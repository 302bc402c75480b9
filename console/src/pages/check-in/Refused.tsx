import { Button } from '@mantine/core';
import { useWords } from '@/i18n/useWords';
import { timeText } from '@/lib/dates';
import type { Entry, Passenger } from './kept';
import { readTicket } from './ticket';
import classes from './check-in.module.css';

interface Props {
  of: Entry[];
  passengers: Passenger[];
  drop: (entry: Entry) => void;
}

/** What was saved without a network, and was not carried out when it was sent. It stays until a person has read it. */
export function Refused({ of, passengers, drop }: Props) {
  const { t, language } = useWords();
  if (of.length === 0) return null;
  return (
    <section className={classes.refused} aria-label={t('checkIn.refused')}>
      <strong>{t('checkIn.refused')}</strong>
      <ul>
        {of.map((entry) => {
          const name =
            passengers.find(({ passenger_id }) => passenger_id === entry.passenger_id)?.name ??
            readTicket(entry.ticket ?? '')?.name;
          const at = entry.result?.checked_in_at;
          return (
            <li key={entry.at}>
              <span className={classes.what}>
                <bdi className={classes.title}>{name ?? t('checkIn.unknown')}</bdi>
                <span>
                  {entry.result?.status === 'ALREADY' && at
                    ? t('checkIn.already', { time: timeText(at, language) })
                    : t(`checkIn.verdict.${entry.result?.status ?? 'INVALID'}`)}
                  {' · '}
                  {t('checkIn.seenAt', { time: timeText(entry.at, language) })}
                </span>
              </span>
              <Button
                size="md"
                variant="default"
                onClick={() => {
                  drop(entry);
                }}
              >
                {t('checkIn.read')}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
