import { PrintedAt } from '@/components/PageHead';
import { useWords } from '@/i18n/useWords';
import { momentText, timeText } from '@/lib/dates';
import type { Passenger, TripHead } from './kept';
import { sheetOf } from './paper';
import classes from './check-in.module.css';

/** The passenger list on paper: for a checkpoint, and for a telephone that is empty. It is shown by printing alone. */
export function Sheet({ trip, passengers }: { trip: TripHead; passengers: Passenger[] }) {
  const { t, language } = useWords();
  const rows = sheetOf(passengers);
  return (
    <div className={classes.printed}>
      <h1>
        <bdi>{trip.title}</bdi>
      </h1>
      <p>
        <bdi>{trip.origin}</bdi> – <bdi>{trip.destination}</bdi> · {momentText(trip.departure_at, language)} ·{' '}
        {t('checkIn.counted', {
          done: rows.filter(({ boarded }) => boarded !== null).length,
          count: rows.length,
        })}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">{t('field.name')}</th>
            <th scope="col">{t('field.bookingNumber')}</th>
            <th scope="col">{t('field.seats')}</th>
            <th scope="col">{t('checkIn.boarded')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ number, id, name, booking, seats, boarded }) => (
            <tr key={id}>
              <td>{number}</td>
              <td>
                <bdi>{name}</bdi>
              </td>
              <td>
                <bdi className="ltr">{booking}</bdi>
              </td>
              <td>{seats}</td>
              {/* An empty box to be ticked with a pen. */}
              <td>{boarded === null ? <span className={classes.box} /> : timeText(boarded, language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <PrintedAt />
    </div>
  );
}
