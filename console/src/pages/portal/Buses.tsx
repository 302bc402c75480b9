import type { Schemas } from '@/api/client';
import { buses } from '@/api/queries/resources';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { BusPhotos } from './BusPhotos';
import type { ResourceFields } from './resourceFields';
import { ResourcePage } from './ResourcePage';

const card = { title: ['plate'], badge: 'status', meta: ['model', 'driver', 'company'] };

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const status = states('bus');
  const fields: ResourceFields<Schemas['Bus'], Schemas['BusInput'], Schemas['BusPatch']> = [
    {
      name: 'plate_number',
      label: t('field.plate'),
      required: true,
      column: { id: 'plate', width: 8, sort: 'plate_number' },
      fact: false,
    },
    { name: 'model', label: t('field.model'), required: true, column: { width: 11, sort: 'model' } },
    { name: 'capacity', label: t('field.capacity'), kind: 'number', required: true, column: { width: 5 } },
    { name: 'driver.name', label: t('field.driver'), required: true, column: { id: 'driver', width: 10 } },
    { name: 'driver.phone', label: t('field.driverPhone'), kind: 'phone' },
    { name: 'driver.license_number', label: t('field.licence') },
    { name: 'features', label: t('field.features'), kind: 'words', hint: t('portal.words') },
    { name: 'accessibility', label: t('field.accessibility') },
    {
      column: parts.plain('photos', t('field.photos'), 4, ({ photos }) => String(photos.length), { align: 'end' }),
    },
    {
      name: 'status',
      label: t('field.status'),
      kind: 'choice',
      required: true,
      choices: status,
      column: { ...parts.status(), sort: 'status' },
      fact: (row) => label(row, 'status'),
    },
    { column: parts.created() },
  ];
  return (
    <ResourcePage
      name="buses"
      of={buses}
      creates="CreateBus"
      filters={[
        base.search(t('portal.searchBus')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: status },
      ]}
      fields={fields}
      card={card}
      fresh={{ status: 'ACTIVE' }}
      titleOf={({ plate_number }) => plate_number}
      above={(row) => <BusPhotos bus={row} />}
    />
  );
}
