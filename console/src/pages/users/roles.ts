import { useWords } from '@/i18n/useWords';

/** Roles of the platform's own people, who are invited here; those of companies are added on the company's page. */
export const roles = ['SUPPORT_AGENT', 'FINANCE_ADMIN', 'ADMIN', 'SUPER_ADMIN'] as const;

export function useRoleChoices() {
  const { t } = useWords();
  return ([...roles, 'PROVIDER_ADMIN', 'PROVIDER_STAFF', 'END_USER'] as const).map((value) => ({
    value,
    label: t(`role.${value}`),
  }));
}
