import type { Schemas } from '@/api/client';
import type { FieldsOf } from '@/forms/fields';
import { useWords } from '@/i18n/useWords';

export function useProviderFields(): FieldsOf<Schemas['ProviderInput']> {
  const { t } = useWords();
  return [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'email', label: t('field.email'), kind: 'email', required: true },
    { name: 'phone', label: t('field.phone'), kind: 'phone', required: true },
    { name: 'city', label: t('field.city') },
    { name: 'commission_rate', label: t('field.commissionRate'), kind: 'rate', hint: t('provider.rateHint') },
  ];
}
