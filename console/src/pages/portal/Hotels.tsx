import { answered, api, listPage, type Schemas } from '@/api/client';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { bodyOf, type Field } from '@/forms/fields';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { ResourcePage } from './ResourcePage';

type Hotel = Schemas['Hotel'];
type Input = Schemas['HotelInput'];

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const status = states('company');
  const fields: Field[] = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'city', label: t('field.city'), required: true },
    { name: 'stars', label: t('field.stars'), kind: 'number' },
    { name: 'address', label: t('field.address') },
    { name: 'description', label: t('field.description'), kind: 'area' },
    { name: 'status', label: t('field.status'), kind: 'choice', required: true, choices: status },
  ];
  return (
    <ResourcePage<Hotel>
      name="hotels"
      creates="CreateHotel"
      filters={[
        base.search(t('portal.searchPlace')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: status },
        { name: 'city', label: t('field.city'), kind: 'text' },
      ]}
      columns={[
        parts.plain('name', t('field.name'), 12, ({ name }) => name, { sort: 'name' }),
        parts.plain('city', t('field.city'), 8, ({ city }) => city, { sort: 'city' }),
        parts.plain('stars', t('field.stars'), 5, ({ stars }) => (stars === null ? null : String(stars)), {
          sort: 'stars',
          align: 'end',
        }),
        parts.status(),
        parts.created(),
      ]}
      read={(filters, cursor, signal) => listPage('/api/v1/provider/hotels', filters, cursor, signal)}
      fields={fields}
      fresh={{ status: 'ACTIVE' }}
      titleOf={({ name }) => name}
      valuesOf={(row) => ({
        name: row.name,
        city: row.city,
        stars: row.stars === null ? '' : String(row.stars),
        address: row.address ?? '',
        description: row.description ?? '',
        status: row.status,
      })}
      create={(values, query) =>
        answered(api.POST('/api/v1/provider/hotels', { params: { query }, body: bodyOf<Input>(fields, values) }))
      }
      change={(id, values, changed) =>
        answered(
          api.PATCH('/api/v1/provider/hotels/{id}', {
            params: { path: { id } },
            body: bodyOf<Schemas['HotelPatch']>(changed, values),
          }),
        )
      }
      remove={(id) => answered(api.DELETE('/api/v1/provider/hotels/{id}', { params: { path: { id } } }))}
      facts={(row) => (
        <Facts
          of={[
            [t('field.city'), row.city],
            [t('field.stars'), row.stars],
            [t('field.address'), row.address],
            [t('field.description'), row.description],
            [t('field.status'), label(row, 'status')],
            [t('field.id'), <CopyId key="v" id={row.id} whole />],
          ]}
        />
      )}
    />
  );
}
