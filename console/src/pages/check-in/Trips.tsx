import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { checkInQueries } from '@/api/queries/check-ins';
import { isProvider, useMe } from '@/app/me';
import { Answer } from '@/components/Card';
import { PageHead } from '@/components/PageHead';
import ui from '@/components/ui.module.css';
import { useNow } from '@/hooks/useNow';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { dayIn, daysFrom, timeText, weekdayText } from '@/lib/dates';
import { grouped } from '@/lib/grouped';
import { Shelf, subscribe, versionNow, type TripHead } from './kept';
import classes from './check-in.module.css';

/** How many days ahead a trip can be chosen. */
const ahead = 7;

type Row = TripHead & { provider_id?: string };

/** The trips of these days, today's first, to choose the one that boards. */
export function Component() {
  const { t } = useWords();
  const { id: account } = useMe();
  const today = dayIn(new Date(useNow()));
  // A trip of the evening may board after midnight.
  const trips = useQuery(checkInQueries.trips(daysFrom(today, -1), daysFrom(today, ahead)));
  const version = useSyncExternalStore(subscribe, versionNow);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the version says that what is kept has changed
  const kept = useMemo(() => new Shelf(account).lists(), [account, version]);
  // Without a network those can be opened whose passenger list is here.
  const known: Row[] | undefined = trips.data ?? (kept.length > 0 ? kept.map(({ trip }) => trip) : undefined);
  // The next page is there before the network goes.
  useEffect(() => {
    void import('./Trip').catch(() => null);
  }, []);
  return (
    <div className={ui.page}>
      <PageHead title={t('nav.check-in')} help="check-in" />
      <p className={ui.text}>{t('checkIn.choose')}</p>
      <Answer query={{ ...trips, data: known, error: known ? null : trips.error }} lines={6}>
        {(found) => <Days trips={found} today={today} />}
      </Answer>
    </div>
  );
}

function Days({ trips, today }: { trips: Row[]; today: string }) {
  const { t, language } = useWords();
  const days = grouped(trips, ({ departure_at }) => dayIn(new Date(departure_at))).sort(([a], [b]) =>
    // What was yesterday is needed least.
    a < today === b < today ? a.localeCompare(b) : a < today ? 1 : -1,
  );
  return (
    <>
      {days[0]?.[0] !== today && <p className="dimmed">{t('checkIn.noneToday')}</p>}
      {days.map(([day, of]) => (
        <section key={day} className={ui.stack} aria-label={weekdayText(day, language)}>
          <h2 className={ui.subhead}>
            {day === today ? `${t('checkIn.today')} · ` : ''}
            {weekdayText(day, language)}
          </h2>
          <ul className={ui.bare}>
            {of.map((trip) => (
              <li key={trip.id}>
                <Choice trip={trip} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function Choice({ trip }: { trip: Row }) {
  const { language } = useWords();
  const providers = useProviders();
  const company = !isProvider(useMe()) && trip.provider_id ? providers.nameOf(trip.provider_id) : undefined;
  return (
    <Link to={`/check-in/${trip.id}`} className={classes.trip ?? ''}>
      <time dateTime={trip.departure_at} className={classes.time}>
        {timeText(trip.departure_at, language)}
      </time>
      <span className={classes.what}>
        <bdi className={classes.title}>{trip.title}</bdi>
        <span className="dimmed">
          <bdi>{trip.origin}</bdi> – <bdi>{trip.destination}</bdi>
          {company && (
            <>
              {' · '}
              <bdi>{company}</bdi>
            </>
          )}
        </span>
      </span>
    </Link>
  );
}
