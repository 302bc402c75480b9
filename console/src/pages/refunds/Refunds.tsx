import type { Schemas } from '@/api/client';
import { refundQueries } from '@/api/queries/refunds';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { RefundChannel } from '@/gen/enums';
import { useChoices } from '@/hooks/useChoices';
import { useProviders } from '@/hooks/useProviders';
import { useSelected } from '@/hooks/useSelected';
import { useWords } from '@/i18n/useWords';
import { useRefundColumns } from '@/shared/columns';
import { RefundDetail } from './RefundDetail';

type Refund = Schemas['Refund'];

export function Component() {
  const { t } = useWords();
  const { choices, states } = useChoices();
  const providers = useProviders();
  const base = useBaseFilters();
  const selected = useSelected<Refund>(({ id }) => id);
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
        { name: 'payment_transaction_id', label: t('field.payment'), kind: 'id' },
      ]}
      columns={useRefundColumns()}
      list={refundQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={selected.open}
      above={() => <RefundDetail refund={selected.chosen} opened={selected.opened} close={selected.close} />}
    />
  );
}
