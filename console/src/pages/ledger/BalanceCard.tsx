import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { recordQueries } from '@/api/queries/records';
import { Answer } from '@/components/Card';
import { Money } from '@/components/Money';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { momentOf } from '@/lib/dates';

/** What a company is owed, now or at a moment that has passed. Without an id, the own company. */
export function BalanceCard({ providerId }: { providerId?: string }) {
  const { t } = useWords();
  const [at, setAt] = useState('');
  const balance = useQuery(recordQueries.balance(providerId, at === '' ? '' : momentOf(at)));
  return (
    <section className={ui.totals} aria-label={t('balance.title')}>
      <Answer query={balance} lines={1}>
        {({ data }) => (
          <>
            <span>
              {t('balance.payable')}{' '}
              <b>
                <Money amount={data.payable_amount} currency={data.currency} />
              </b>
            </span>
            <span>
              {t('balance.paidOut')}{' '}
              <b>
                <Money amount={data.paid_out_amount} currency={data.currency} />
              </b>
            </span>
            <span>
              {t('balance.earned')}{' '}
              <b>
                <Money amount={data.earned_amount} currency={data.currency} />
              </b>
            </span>
            <span>
              {t('balance.last')} <When at={data.last_payout_at} />
            </span>
            <span>
              {t('balance.of')} <When at={data.as_of} />
            </span>
          </>
        )}
      </Answer>
      <TextInput
        size="xs"
        className={ui.push}
        type="datetime-local"
        label={t('balance.asOf')}
        value={at}
        onChange={(event) => {
          setAt(event.currentTarget.value);
        }}
      />
    </section>
  );
}
