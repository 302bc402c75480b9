import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { companyQueries } from '@/api/queries/company';
import { useMe } from '@/app/me';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { Said } from '@/forms/Toast';
import { useWords } from '@/i18n/useWords';
import { StaffCard, useStaffFields } from '@/shared/StaffCard';

/** The accounts that act for the own company. */
export function Colleagues() {
  const { t } = useWords();
  const me = useMe();
  const staff = useQuery(companyQueries.staff());
  const { who, roles } = useStaffFields();
  const choices = roles.map((role) => ({ ...role, hint: t(`company.role.${role.value}`) }));
  const fields: FieldsOf<Schemas['CompanyStaffInput']> = [
    ...who,
    { name: 'role', label: t('field.role'), kind: 'radios', required: true, choices },
  ];
  return (
    <StaffCard
      staff={staff}
      changes={[companyQueries.all]}
      me={me.id}
      add={{
        label: t('company.invite'),
        hint: t('company.inviteHint'),
        fields,
        submit: async (values) => {
          const { data } = await answered(
            api.POST('/api/v1/provider/staff', { body: bodyOf<Schemas['CompanyStaffInput']>(fields, values) }),
          );
          return new Said(t('company.invited', { email: data.email }));
        },
      }}
      remove={(id) => answered(api.DELETE('/api/v1/provider/staff/{staff_id}', { params: { path: { staff_id: id } } }))}
      removeHint={t('company.removeHint')}
    />
  );
}
