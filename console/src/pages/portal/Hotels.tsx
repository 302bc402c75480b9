import type { Schemas } from '@/api/client';
import { hotels } from '@/api/queries/resources';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import type { ResourceFields } from './resourceFields';
import { ResourcePage } from './ResourcePage';

const card = { title: ['name'], badge: 'status', meta: ['city', 'company'] };

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const status = states('company');
  const fields: ResourceFields<Schemas['Hotel'], Schemas['HotelInput'], Schemas['HotelPatch']> = [
    { name: 'name', label: t('field.name'), required: true, column: { width: 12, sort: 'name' }, fact: false },
    { name: 'city', label: t('field.city'), required: true, column: { width: 8, sort: 'city' } },
    { name: 'stars', label: t('field.stars'), kind: 'number', column: { width: 5, sort: 'stars' } },
    { name: 'address', label: t('field.address') },
    { name: 'description', label: t('field.description'), kind: 'area' },
    {
      name: 'status',
      label: t('field.status'),
      kind: 'choice',
      required: true,
      choices: status,
      column: parts.status(),
      fact: (row) => label(row, 'status'),
    },
    { column: parts.created() },
  ];
  return (
    <ResourcePage
      name="hotels"
      of={hotels}
      creates="CreateHotel"
      filters={[
        base.search(t('portal.searchPlace')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: status },
        { name: 'city', label: t('field.city'), kind: 'text' },
      ]}
      fields={fields}
      card={card}
      fresh={{ status: 'ACTIVE' }}
      titleOf={({ name }) => name}
    />
  );
}
