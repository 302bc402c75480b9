import { Button } from '@mantine/core';
import { IconCheck, IconCloudUp } from '@tabler/icons-react';
import { useWords } from '@/i18n/useWords';
import { timeText } from '@/lib/dates';
import type { Entry, Passenger } from './kept';
import classes from './check-in.module.css';

interface Props {
  of: Passenger[];
  empty: string;
  unsent: Entry[];
  choose: (passenger: Passenger) => void;
}

/** The passengers of a trip, each with what can be done. */
export function People({ of, empty, unsent, choose }: Props) {
  const { t, language } = useWords();
  if (of.length === 0) return <p className="dimmed">{empty}</p>;
  return (
    <ul className={classes.people} aria-label={t('checkIn.people')}>
      {of.map((passenger) => {
        const { passenger_id, name, booking_number, checked_in_at } = passenger;
        return (
          <li key={passenger_id}>
            <span className={classes.what}>
              <bdi className={classes.title}>{name}</bdi>
              <bdi className="ltr dimmed">{booking_number}</bdi>
            </span>
            {checked_in_at === null ? (
              <Button
                size="md"
                variant="light"
                aria-label={t('checkIn.checkInOf', { name })}
                onClick={() => {
                  choose(passenger);
                }}
              >
                {t('checkIn.checkIn')}
              </Button>
            ) : (
              <span className={classes.boarded}>
                {unsent.some((one) => one.passenger_id === passenger_id) ? (
                  <IconCloudUp size={18} aria-label={t('checkIn.unsent')} />
                ) : (
                  <IconCheck size={18} aria-label={t('checkIn.boarded')} />
                )}
                <time dateTime={checked_in_at}>{timeText(checked_in_at, language)}</time>
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
