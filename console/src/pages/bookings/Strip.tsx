import { Link } from 'react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { useMay } from '@/app/me';
import { Badge } from '@/components/Badge';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { useNow } from '@/hooks/useNow';
import { useWords } from '@/i18n/useWords';
import { dayText, momentText } from '@/lib/dates';
import { moneyText } from '@/lib/money';
import { moneyOf, nextStep, openRequest } from './summary';
import type { TripOf } from './TripOff';

interface Props {
  booking: Schemas['Booking'];
  payments: Schemas['PaymentTransaction'][];
  refunds: Schemas['Refund'][];
  /** The cancellation of its trip. */
  off: TripOf['off'];
}

/** The booking in one line: how it stands, what money did, and what comes next. */
export function Strip({ booking, payments, refunds, off }: Props) {
  const { t, label, language } = useWords();
  const { paid, refunded, underWay, kept } = moneyOf(booking, payments);
  const cancelled = booking.passengers.filter(({ status }) => status === 'CANCELLED').length;
  const money = (amount: number) => <Money amount={amount} currency={booking.currency} />;
  const isCancelled = booking.status === 'CANCELLED';
  const fee = booking.cancellation_fee ?? 0;
  const parts: [string, ReactNode][] = [
    [
      t('field.status'),
      <Badge key="v" state={booking.status}>
        {label(booking, 'status')}
      </Badge>,
    ],
    [
      t('field.seats'),
      <span key="v" className="numbers">
        {booking.seats}
        {cancelled > 0 && !isCancelled && (
          <small className={ui.sub}>{t('booking.cancelledSeats', { count: cancelled })}</small>
        )}
      </span>,
    ],
    [t('booking.paid'), money(paid)],
    [
      t('booking.refunded'),
      <span key="v">
        {money(refunded)}
        {underWay > 0 && (
          <small className={ui.sub}>
            {t('booking.underWay', { amount: moneyText(underWay, language, booking.currency) })}
          </small>
        )}
      </span>,
    ],
    isCancelled && paid > 0
      ? [t('booking.fee'), money(fee)]
      : [
          t('booking.kept'),
          <span key="v">
            {money(kept)}
            {fee > 0 && (
              <small className={ui.sub}>
                {t('booking.feeOfIt', { amount: moneyText(fee, language, booking.currency) })}
              </small>
            )}
          </span>,
        ],
  ];
  return (
    <dl className={ui.strip} aria-label={t('booking.summary')}>
      {parts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div className={ui.wider}>
        <dt>{t('booking.next')}</dt>
        <dd>
          <Next booking={booking} payments={payments} refunds={refunds} off={off} />
        </dd>
      </div>
    </dl>
  );
}

function Next({ booking, payments, refunds, off }: Props) {
  const { t, language } = useWords();
  const now = useNow();
  const may = useMay();
  const { step, at } = nextStep(booking, payments, refunds, now, off);
  if (step === 'refund' || step === 'payOut') {
    const does = t(
      step === 'payOut' && !may('ConfirmRefundPayout') ? 'booking.stepOfOthers.payOut' : `booking.step.${step}`,
    );
    return at === null ? does : `${does} ${t('booking.step.arrives', { when: dayText(at, language) })}`;
  }
  if (step === 'decide' && !may('ApproveCancellation')) return t('booking.stepOfOthers.decide');
  if (step === 'giveBack' && !may('RefundLatePayment')) return t('booking.stepOfOthers.giveBack');
  const when = at === null ? '' : step === 'arrives' ? dayText(at, language) : momentText(at, language);
  return t(`booking.step.${step}`, { when });
}

/** The customer's request that waits for a decision, and the way to it. */
export function OpenRequest({ booking }: { booking: Schemas['Booking'] }) {
  const { t, language } = useWords();
  const may = useMay();
  const request = openRequest(booking);
  if (!request) return null;
  const { refund_amount, currency, seats } = request.quote;
  return (
    <p className={ui.notice} role="status">
      {t('booking.asks', {
        who: t('count.passengers', { count: seats }),
        amount: moneyText(refund_amount, language, currency),
      })}{' '}
      {may('ListAllCancellationRequests') && (
        <Link to={`/cancellation-requests?search=${booking.booking_number}#${request.id}`}>{t('booking.open')}</Link>
      )}
    </p>
  );
}
