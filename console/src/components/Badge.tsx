import classes from './ui.module.css';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'idle';

/** What a state of any resource means to the reader. States of later versions are shown without a colour. */
const tones: Record<string, Tone> = {
  CONFIRMED: 'good',
  PAID: 'good',
  SUCCEEDED: 'good',
  TRANSFERRED: 'good',
  ACTIVE: 'good',
  PUBLISHED: 'good',
  RESOLVED: 'good',
  APPROVED: 'good',
  COMPLETED: 'good',
  PENDING_PAYMENT: 'warn',
  PENDING: 'warn',
  NEEDS_APPROVAL: 'warn',
  CANCELLING: 'warn',
  REQUESTED: 'warn',
  NEEDS_PAYOUT: 'warn',
  INVITED: 'info',
  RUNNING: 'info',
  SCHEDULED: 'info',
  IN_CURRENT_BALANCE: 'info',
  UNDER_MAINTENANCE: 'warn',
  FAILED: 'bad',
  OPEN: 'bad',
  LOCKED: 'bad',
  REJECTED: 'bad',
  STOPPED: 'bad',
  UNKNOWN: 'bad',
  CANCELLED: 'idle',
  REFUNDED: 'idle',
  PARTIAL_REFUND: 'idle',
  EXPIRED: 'idle',
  PAYMENT_FAILED: 'idle',
  WITHDRAWN: 'idle',
  INACTIVE: 'idle',
  DRAFT: 'idle',
  PAUSED: 'idle',
  ENDED: 'idle',
};

/** A state: its words, and a colour for those who see it. */
export function Badge({ state, children }: { state: string; children: string }) {
  return (
    <span className={classes.badge} data-tone={tones[state] ?? 'idle'}>
      {children}
    </span>
  );
}
