import type { Schemas } from '@/api/client';

type Cancellation = Schemas['TripCancellation'];
type Counts = Pick<
  Cancellation,
  'bookings' | 'cancelled' | 'refunds_succeeded' | 'refunds_pending' | 'refunds_failed' | 'refunds_by_hand'
>;

export type Standing =
  | 'waits'
  | 'running'
  | 'refunding'
  | 'payOut'
  | 'failed'
  | 'done'
  | 'doneNoMoney'
  | 'rejected'
  | 'withdrawn'
  | 'expired';

/** How the cancellation of a trip stands, for people. */
export function standingOf(
  of: Counts & Pick<Cancellation, 'status' | 'needs_approval' | 'requested_by' | 'decided_by'>,
): Standing {
  if (of.needs_approval) return 'waits';
  if (of.status === 'REJECTED') return of.decided_by === of.requested_by ? 'withdrawn' : 'rejected';
  if (of.status === 'EXPIRED') return 'expired';
  if (of.status !== 'CANCELLED') return 'running';
  // Of the pending ones some may wait for people, and not for a gateway.
  if (of.refunds_by_hand > 0) return 'payOut';
  if (of.refunds_pending > 0) return 'refunding';
  if (of.refunds_failed > 0) return 'failed';
  return of.refunds_succeeded > 0 ? 'done' : 'doneNoMoney';
}

/** Whether bookings are cancelled by it, or were: there is progress to show. */
export const isCarriedOut = (standing: Standing) => !['waits', 'rejected', 'withdrawn', 'expired'].includes(standing);

const share = (part: number, whole: number) => (whole > 0 ? Math.min(100, (100 * part) / whole) : 100);

/**
 * The parts of its bars, in percent: bookings that are cancelled, of all; and refunds by how they stand, of those that there will be. Of a
 * booking whose money had gone back before there is none.
 */
export function sharesOf(of: Counts) {
  const ordered = of.refunds_succeeded + of.refunds_pending + of.refunds_failed;
  const refunds = Math.max(ordered, of.bookings - Math.max(0, of.cancelled - ordered));
  return {
    cancelled: share(of.cancelled, of.bookings),
    succeeded: refunds > 0 ? share(of.refunds_succeeded, refunds) : 0,
    pending: refunds > 0 ? share(of.refunds_pending, refunds) : 0,
    failed: refunds > 0 ? share(of.refunds_failed, refunds) : 0,
  };
}
