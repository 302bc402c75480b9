import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLocation } from 'react-router';
import { campaigns } from '@/api/queries/resources';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { isUuid } from '@/lib/ids';
import { PayCampaign } from './PayCampaign';

/** Before the campaign's id: the id alone opens the campaign beside the list. */
const mark = '#paid-';

/** After the gateway's page: what became of the payment of the campaign that the address ends with, and another try. */
export function PaidOrNot() {
  const { t } = useWords();
  const queries = useQueryClient();
  const { hash } = useLocation();
  const id = hash.startsWith(mark) ? hash.slice(mark.length) : '';
  const { data } = useQuery({
    ...campaigns.one(id),
    enabled: isUuid(id),
    // The gateway says it to the service by a message of its own, which may come later than the browser.
    refetchInterval: ({ state }) => (state.data?.data.status === 'PENDING_PAYMENT' ? 2_000 : false),
  });
  const campaign = isUuid(id) ? data?.data : undefined;
  const status = campaign?.status;
  useEffect(() => {
    if (status !== undefined && status !== 'PENDING_PAYMENT')
      void queries.invalidateQueries({ queryKey: campaigns.list.queryKey });
  }, [status, queries]);
  if (!campaign) return null;
  if (status === 'PAYMENT_FAILED') {
    return (
      <div className={`${ui.notice ?? ''} ${ui.row ?? ''}`} role="alert">
        <span>{t('done.paidOrNot.declined', { name: `\u2068${campaign.title}\u2069` })}</span>
        <PayCampaign campaign={campaign} />
      </div>
    );
  }
  const waits = status === 'PENDING_PAYMENT';
  return (
    <p className={waits ? ui.notice : ui.good} role="status">
      {t(waits ? 'done.paidOrNot.waiting' : 'done.paidOrNot.paid')}
    </p>
  );
}
