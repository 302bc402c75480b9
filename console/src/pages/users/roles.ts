import { PlatformRole, StaffRole } from '@/gen/enums';
import { useWords } from '@/i18n/useWords';

/** All roles, those of the platform's own people first. They are invited here; those of providers are added on the provider's page. */
export function useRoleChoices() {
  const { t } = useWords();
  return ([...PlatformRole, ...StaffRole, 'END_USER'] as const).map((value) => ({ value, label: t(`role.${value}`) }));
}
