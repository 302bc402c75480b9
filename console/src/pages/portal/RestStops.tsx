import { answered, api, listPage, type Schemas } from '@/api/client';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { bodyOf, type Field } from '@/forms/fields';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { ResourcePage } from './ResourcePage';

type RestStop = Schemas['RestStop'];
type Input = Schemas['RestStopInput'];

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const status = states('company');
  const fields: Field[] = [
    { name: 'name', label: t('field.name'), required: true },
    { name: 'city', label: t('field.city'), required: true },
    { name: 'latitude', label: t('field.latitude'), kind: 'number' },
    { name: 'longitude', label: t('field.longitude'), kind: 'number' },
    { name: 'amenities', label: t('field.amenities'), kind: 'words', hint: t('portal.words') },
    { name: 'status', label: t('field.status'), kind: 'choice', required: true, choices: status },
  ];
  const number = (value: number | null) => (value === null ? '' : String(value));
  return (
    <ResourcePage<RestStop>
      name="rest-stops"
      creates="CreateRestStop"
      filters={[
        base.search(t('portal.searchPlace')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: status },
        { name: 'city', label: t('field.city'), kind: 'text' },
      ]}
      columns={[
        parts.plain('name', t('field.name'), 12, ({ name }) => name, { sort: 'name' }),
        parts.plain('city', t('field.city'), 8, ({ city }) => city, { sort: 'city' }),
        parts.plain('amenities', t('field.amenities'), 14, ({ amenities }) => amenities.join('، ')),
        parts.status(),
        parts.created(),
      ]}
      read={(filters, cursor, signal) => listPage('/api/v1/provider/rest-stops', filters, cursor, signal)}
      fields={fields}
      fresh={{ status: 'ACTIVE' }}
      titleOf={({ name }) => name}
      valuesOf={(row) => ({
        name: row.name,
        city: row.city,
        latitude: number(row.latitude),
        longitude: number(row.longitude),
        amenities: row.amenities.join(', '),
        status: row.status,
      })}
      create={(values, query) =>
        answered(api.POST('/api/v1/provider/rest-stops', { params: { query }, body: bodyOf<Input>(fields, values) }))
      }
      change={(id, values, changed) =>
        answered(
          api.PATCH('/api/v1/provider/rest-stops/{id}', {
            params: { path: { id } },
            body: bodyOf<Schemas['RestStopPatch']>(changed, values),
          }),
        )
      }
      remove={(id) => answered(api.DELETE('/api/v1/provider/rest-stops/{id}', { params: { path: { id } } }))}
      facts={(row) => (
        <Facts
          of={[
            [t('field.city'), row.city],
            [
              t('field.position'),
              row.latitude !== null && <CopyId key="v" id={`${row.latitude}, ${row.longitude ?? ''}`} />,
            ],
            [t('field.amenities'), row.amenities.join('، ')],
            [t('field.status'), label(row, 'status')],
            [t('field.id'), <CopyId key="v" id={row.id} whole />],
          ]}
        />
      )}
    />
  );
}
