import { refundQueries } from '@/api/queries/refunds';
import { Beside } from '@/components/Beside';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside } from '@/hooks/useBeside';
import { RefundChannel } from '@/gen/enums';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { useRefundColumns } from '@/shared/columns';
import { RefundDetail } from './RefundDetail';

const card = {
  title: ['customer', 'booking'],
  amount: 'amount',
  badge: 'status',
  meta: ['booking', 'channel', 'created'],
};

export function Component() {
  const { t } = useWords();
  const { choices, states } = useChoices();
  const providers = useProviders();
  const base = useBaseFilters();
  const { open } = useBeside();
  const yes = [{ value: 'true', label: t('answer.yes') }];
  return (
    <ListPage
      name="refunds"
      filters={[
        base.search(t('refund.search')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('refund') },
        { name: 'needs_payout', label: t('refund.needsPayout'), kind: 'choice', choices: yes },
        { name: 'needs_approval', label: t('refund.needsApproval'), kind: 'choice', choices: yes },
        { name: 'channel', label: t('field.channel'), kind: 'choice', choices: choices(RefundChannel) },
        providers.filter,
        base.period,
        base.from,
        base.to,
        base.booking,
        { name: 'payment_transaction_id', label: t('field.payment'), kind: 'given' },
      ]}
      columns={useRefundColumns()}
      card={card}
      list={refundQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={open}
      above={({ rows, data }) => (
        <Beside rows={rows} read={data !== undefined} title={t('refund.title')} one={refundQueries.one}>
          {(refund, { opened, close }) => <RefundDetail refund={refund} opened={opened} close={close} />}
        </Beside>
      )}
    />
  );
}
