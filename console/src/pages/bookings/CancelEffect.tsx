import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Schemas } from '@/api/client';
import { cancellationQuotes } from '@/api/queries/cancellations';
import { previewQueries } from '@/api/queries/refunds';
import { Answer } from '@/components/Card';
import { Facts } from '@/components/Facts';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import type { Values } from '@/forms/fields';
import { useWords } from '@/i18n/useWords';
import { dayText } from '@/lib/dates';
import { rateText } from '@/lib/money';
import { cancelKey, effectOf, idsOf } from './cancel';
import { usePayers } from './RefundPreview';

type Quote = Schemas['CancellationQuote'];

/** An effect that is in sight: what it is of, and what the order is held to. */
export interface Foreseen {
  key: string;
  amount: number;
  needsApproval: boolean;
}

interface Props {
  booking: Schemas['Booking'];
  values: Values;
  /** The amount that the API has named for these values, when it refused the one that was shown. */
  named: number | undefined;
  /** Called with the effect that is in sight, and with null when there is none. */
  onShown?: (shown: Foreseen | null) => void;
}

/**
 * What the cancellation would do: from the quote of these passengers, and from the preview of a refund of as much. The preview says who
 * bears it, and of another amount than the policy's whether it would wait for a second person.
 */
export function CancelEffect({ booking, values: now, named, onShown }: Props) {
  const { t } = useWords();
  // Typing an amount asks once.
  const [values] = useDebouncedValue(now, 350);
  const ids = idsOf(values);
  const quote = useQuery({ ...cancellationQuotes.of(booking.id, ids), enabled: ids.length > 0 });
  const effect = quote.data ? effectOf(quote.data.data, values, named) : null;
  const text = effect?.back.toFixed(2) ?? '';
  const preview = useQuery({
    ...previewQueries.ofForm(booking.id, `PARTIAL ${text}`, { refund_type: 'PARTIAL', amount: text }),
    enabled: effect !== null && effect.back > 0,
  });
  const payers = usePayers(effect?.back ? preview.data?.data : undefined);
  const key = cancelKey(values);
  const amount = effect?.back ?? null;
  const ready = quote.isSuccess && (amount === 0 || preview.isSuccess);
  const foreseen = values['refund'] === 'POLICY' ? quote.data : preview.data;
  const needsApproval = amount !== 0 && foreseen?.data.needs_approval === true;
  useEffect(() => {
    onShown?.(ready && amount !== null ? { key, amount, needsApproval } : null);
  }, [ready, key, amount, needsApproval, onShown]);

  if (ids.length === 0) return <p className={ui.text}>{t('cancel.choose')}</p>;
  return (
    <section className={ui.stack} aria-label={t('cancel.effect')} aria-live="polite">
      <Answer query={quote} lines={5}>
        {({ data }) =>
          effect === null ? (
            <p className={ui.text}>{t('cancel.enter')}</p>
          ) : (
            <>
              <Amounts
                booking={booking}
                quote={data}
                effect={effect}
                payers={values['bearer'] === 'PROPORTIONAL' ? payers : null}
                channel={effect.back > 0 ? preview.data?.data.channel : undefined}
                by={effect.back > 0 ? foreseen?.data.expected_by : undefined}
              />
              {effect.back > 0 && (
                <Answer query={preview} lines={1} labels={{ amount: t('cancel.amount') }}>
                  {() =>
                    needsApproval &&
                    onShown && (
                      <p className={ui.notice} role="note">
                        {t('cancel.willWait')}
                      </p>
                    )
                  }
                </Answer>
              )}
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Amounts({
  booking,
  quote,
  effect,
  payers,
  channel,
  by,
}: {
  booking: Props['booking'];
  quote: Quote;
  effect: { back: number; fee: number };
  /** Who bears it, by their shares. */
  payers: string | null;
  /** By which way it goes back. */
  channel: Schemas['RefundChannel'] | undefined;
  /** The day by which the customer has it; undefined while that is not known. */
  by: string | undefined;
}) {
  const { t, language } = useWords();
  const money = (amount: number) => <Money amount={amount} currency={quote.currency} />;
  const seats = t('count.seats', { count: quote.seats });
  return (
    <Facts
      of={[
        [t('cancel.seats'), quote.seats === booking.seats ? t('cancel.allSeats', { seats }) : seats],
        [t('cancel.paid'), money(quote.paid_amount)],
        [t('cancel.back'), <b key="v">{money(effect.back)}</b>],
        [t('cancel.way'), channel && t(`cancel.ways.${channel}`)],
        [
          t('cancel.arrives'),
          channel && (by ? t('cancel.arrivesBy', { when: dayText(by, language) }) : t('cancel.arrivesLater')),
        ],
        [t('preview.paidBy'), payers],
        [t('cancel.fee'), money(effect.fee)],
        [
          t('cancel.policy'),
          t('cancel.policyOf', {
            percent: rateText(quote.policy_percent / 100, language),
            why: t(`policy.${quote.reason_code}`),
          }),
        ],
      ]}
    />
  );
}
