import type { Schemas } from '@/api/client';
import { restStops } from '@/api/queries/resources';
import { CopyId } from '@/components/CopyId';
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
  const fields: ResourceFields<Schemas['RestStop'], Schemas['RestStopInput'], Schemas['RestStopPatch']> = [
    { name: 'name', label: t('field.name'), required: true, column: { width: 12, sort: 'name' }, fact: false },
    { name: 'city', label: t('field.city'), required: true, column: { width: 8, sort: 'city' } },
    { name: 'latitude', label: t('field.latitude'), kind: 'number', fact: false },
    { name: 'longitude', label: t('field.longitude'), kind: 'number', fact: false },
    {
      label: t('field.position'),
      // Both at once, to be copied into a map.
      fact: ({ latitude, longitude }) => latitude !== null && <CopyId id={`${latitude}, ${longitude ?? ''}`} />,
    },
    {
      name: 'amenities',
      label: t('field.amenities'),
      kind: 'words',
      hint: t('portal.words'),
      column: { width: 14 },
    },
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
      name="rest-stops"
      of={restStops}
      creates="CreateRestStop"
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
