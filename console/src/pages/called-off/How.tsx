import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import type { Schemas } from '@/api/client';
import { tripCancellationQueries } from '@/api/queries/trip-cancellations';
import { useMay } from '@/app/me';
import { Answer } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import { calledOffChanges } from './changes';
import { Decide } from './Decide';
import { Progress } from './Progress';
import { isCarriedOut, standingOf } from './standing';

type Cancellation = Schemas['TripCancellation'];

/**
 * The cancellation of a trip, read again for as long as it changes. What it has changed is read anew when its state is another one than was
 * seen before, or than that of the trip as a list has it.
 */
export function useCalledOff(tripId: string, listed?: Schemas['TripStatus']) {
  const queries = useQueryClient();
  const found = useQuery(tripCancellationQueries.one(tripId));
  const status = found.data?.data.status;
  const seen = useRef<string | undefined>(listed);
  useEffect(() => {
    if (status === undefined) return;
    if (seen.current !== undefined && seen.current !== status)
      for (const queryKey of calledOffChanges) void queries.invalidateQueries({ queryKey });
    seen.current = status;
  }, [status, queries]);
  return found;
}

/** How it stands, what can be decided, and how far it is. */
export function How({ of }: { of: Cancellation }) {
  const { t, language } = useWords();
  const may = useMay();
  const standing = standingOf(of);
  const open = ['waits', 'payOut', 'failed'].includes(standing);
  const payouts = new URLSearchParams({ needs_payout: 'true', provider_id: of.provider_id });
  return (
    <>
      <p className={open ? ui.notice : standing.startsWith('done') ? ui.good : ui.text} role="status">
        {t(`calledOff.standing.${standing}`, {
          when: of.approval_until ? momentText(of.approval_until, language) : '',
        })}{' '}
        {of.refunds_by_hand > 0 && may('ListRefunds') && (
          <Link to={`/refunds?${payouts.toString()}`}>{t('calledOff.openPayouts')}</Link>
        )}
      </p>
      {of.needs_approval && <Decide of={of} />}
      {isCarriedOut(standing) && <Progress of={of} />}
    </>
  );
}

/** The cancellation of a trip beside the list of trips. */
export function CalledOffBeside({ trip }: { trip: Schemas['Trip'] }) {
  const { t } = useWords();
  const found = useCalledOff(trip.id, trip.status);
  return (
    <Answer query={found} lines={3}>
      {({ data }) => (
        <>
          <How of={data} />
          <Link to={`/trip-cancellations/${trip.id}`}>{t('calledOff.show')}</Link>
        </>
      )}
    </Answer>
  );
}

/** The way to a cancellation of the trip that did not take place: it was rejected or withdrawn, or expired. */
export function EndedBeside({ trip }: { trip: Schemas['Trip'] }) {
  const { t } = useWords();
  return (
    <p className={ui.text}>
      {t('calledOff.ended')} <Link to={`/trip-cancellations/${trip.id}`}>{t('calledOff.show')}</Link>
    </p>
  );
}
