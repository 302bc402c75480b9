import { useQuery } from '@tanstack/react-query';
import { providerQueries } from '@/api/queries/providers';
import { useMay } from '@/app/me';
import type { Filter } from '@/components/Filters';
import { useWords } from '@/i18n/useWords';

/** The provider companies by name, from the list that the role may read; others come to a company's by a link. */
export function useProviders() {
  const { t } = useWords();
  const mayCall = useMay();
  const all = mayCall('ListProviders');
  const may = all || mayCall('ListProviderBalances');
  const { data } = useQuery({
    ...providerQueries.choices(all ? '/api/v1/admin/providers' : '/api/v1/admin/provider-balances'),
    enabled: may,
  });
  const choices = (data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const filter: Filter<'provider_id'> = may
    ? { name: 'provider_id', label: t('field.provider'), kind: 'choice', choices }
    : { name: 'provider_id', label: t('field.provider'), kind: 'given' };
  const nameOf = (id: string) => choices.find(({ value }) => value === id)?.label;
  return { filter, choices, may, nameOf };
}
