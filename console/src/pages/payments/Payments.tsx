import { useNavigate } from 'react-router';
import { paymentQueries } from '@/api/queries/payments';
import { ListPage } from '@/components/ListPage';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { PaymentMethod, PaymentProvider } from '@/gen/enums';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { usePaymentColumns } from '@/shared/columns';

const card = { title: ['booking', 'kind'], amount: 'amount', badge: 'status', meta: ['kind', 'method', 'created'] };

export function Component() {
  const { t } = useWords();
  const navigate = useNavigate();
  const { choices, states } = useChoices();
  const base = useBaseFilters();
  return (
    <ListPage
      name="payments"
      filters={[
        base.search(t('search.placeholder')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: states('transaction') },
        { name: 'payment_method', label: t('field.method'), kind: 'choice', choices: choices(PaymentMethod) },
        { name: 'provider', label: t('field.gateway'), kind: 'choice', choices: choices(PaymentProvider) },
        base.period,
        base.from,
        base.to,
        base.booking,
        { name: 'reference', label: t('field.reference'), kind: 'text' },
      ]}
      columns={usePaymentColumns()}
      card={card}
      list={paymentQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={({ id }) => void navigate(`/payments/${id}`)}
    />
  );
}
