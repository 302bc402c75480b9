import { useQuery } from '@tanstack/react-query';
import { answered, api, type Schemas } from '@/api/client';
import { providerQueries } from '@/api/queries/providers';
import { bodyOf, type FieldsOf } from '@/forms/fields';
import { Said } from '@/forms/Toast';
import { useWords } from '@/i18n/useWords';
import { StaffCard, useStaffFields } from '@/shared/StaffCard';

/** The accounts that act for a company, for the platform's staff. */
export function Staff({ providerId }: { providerId: string }) {
  const { t } = useWords();
  const staff = useQuery(providerQueries.staff(providerId));
  const { who, roles } = useStaffFields();
  const fields: FieldsOf<Schemas['StaffInput']> = [
    ...who,
    { name: 'role', label: t('field.role'), kind: 'choice', required: true, choices: roles },
    { name: 'password', label: t('signIn.password'), kind: 'password', required: true, hint: t('reset.rule') },
  ];
  return (
    <StaffCard
      staff={staff}
      changes={[providerQueries.all]}
      add={{
        label: t('provider.addStaff'),
        submitLabel: t('action.save'),
        fields,
        submit: async (values) => {
          const { data } = await answered(
            api.POST('/api/v1/admin/providers/{id}/staff', {
              params: { path: { id: providerId } },
              body: bodyOf<Schemas['StaffInput']>(fields, values),
            }),
          );
          return new Said(t('done.created', { name: data.name }));
        },
      }}
      remove={(id) =>
        answered(
          api.DELETE('/api/v1/admin/providers/{id}/staff/{staff_id}', {
            params: { path: { id: providerId, staff_id: id } },
          }),
        )
      }
    />
  );
}
