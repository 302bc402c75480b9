import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { Answer } from '@/components/Card';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { moneyText, rateText } from '@/lib/money';

type Quote = Schemas['CancellationQuote'];

/** What the request was quoted, with today's terms beside it while it is undecided. */
export function Terms({
  request: { quote, approval_quote },
  today,
}: {
  request: Schemas['CancellationRequest'];
  today: UseQueryResult<{ data: Quote }> | null;
}) {
  const { t, language } = useWords();
  if (today === null) return <Quotes then={quote} />;
  return (
    <Answer query={today} lines={4}>
      {({ data }) => (
        <>
          {approval_quote && approval_quote.refund_amount > quote.refund_amount ? (
            <p className={ui.notice} role="status">
              {t('cancellation.better', {
                now: moneyText(approval_quote.refund_amount, language, quote.currency),
                then: moneyText(quote.refund_amount, language, quote.currency),
              })}
            </p>
          ) : (
            <p className={ui.text}>{t('cancellation.quoteStays')}</p>
          )}
          <Quotes then={quote} today={data} />
        </>
      )}
    </Answer>
  );
}

interface Row {
  name: string;
  text: (quote: Quote) => ReactNode;
}

/** Line by line, so that both fit beside each other. */
function Quotes({ then, today }: { then: Quote; today?: Quote }) {
  const { t, language } = useWords();
  const rows: Row[] = [
    { name: t('cancellation.refund'), text: (of) => <Money amount={of.refund_amount} currency={of.currency} /> },
    { name: t('cancellation.fee'), text: (of) => <Money amount={of.fee_amount} currency={of.currency} /> },
    { name: t('cancellation.paid'), text: (of) => <Money amount={of.paid_amount} currency={of.currency} /> },
    { name: t('cancellation.percent'), text: (of) => rateText(of.policy_percent / 100, language) },
    { name: t('cancellation.hours'), text: (of) => of.hours_to_departure },
    { name: t('cancellation.terms'), text: (of) => t(`policy.${of.reason_code}`) },
  ];
  return (
    <table className={ui.compare} aria-label={t('cancellation.compare')}>
      <thead>
        <tr>
          <td />
          <th scope="col">{t('cancellation.then')}</th>
          {today && <th scope="col">{t('cancellation.today')}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, text }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{text(then)}</td>
            {today && <td>{text(today)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
