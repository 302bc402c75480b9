import { answered, api, listPage, type Schemas } from '@/api/client';
import { CopyId } from '@/components/CopyId';
import { Facts } from '@/components/Facts';
import { bodyOf, type Field } from '@/forms/fields';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useChoices } from '@/hooks/useChoices';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';
import { BusPhotos } from './BusPhotos';
import { ResourcePage } from './ResourcePage';

type Bus = Schemas['Bus'];
type Input = Schemas['BusInput'];

export function Component() {
  const { t, label } = useWords();
  const { states } = useChoices();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const status = states('bus');
  const fields: Field[] = [
    { name: 'plate_number', label: t('field.plate'), required: true },
    { name: 'model', label: t('field.model'), required: true },
    { name: 'capacity', label: t('field.capacity'), kind: 'number', required: true },
    { name: 'driver.name', label: t('field.driver'), required: true },
    { name: 'driver.phone', label: t('field.driverPhone'), kind: 'phone' },
    { name: 'driver.license_number', label: t('field.licence') },
    { name: 'features', label: t('field.features'), kind: 'words', hint: t('portal.words') },
    { name: 'status', label: t('field.status'), kind: 'choice', required: true, choices: status },
  ];
  return (
    <ResourcePage<Bus>
      name="buses"
      creates="CreateBus"
      filters={[
        base.search(t('portal.searchBus')),
        { name: 'status', label: t('field.status'), kind: 'choice', choices: status },
      ]}
      columns={[
        parts.plain('plate', t('field.plate'), 8, ({ plate_number }) => plate_number, { sort: 'plate_number' }),
        parts.plain('model', t('field.model'), 11, ({ model }) => model, { sort: 'model' }),
        parts.plain('capacity', t('field.capacity'), 5, ({ capacity }) => String(capacity), { align: 'end' }),
        parts.plain('driver', t('field.driver'), 10, ({ driver }) => driver.name),
        parts.plain('photos', t('field.photos'), 4, ({ photos }) => String(photos.length), { align: 'end' }),
        { ...parts.status(), sort: 'status' },
        parts.created(),
      ]}
      read={(filters, cursor, signal) => listPage('/api/v1/provider/buses', filters, cursor, signal)}
      fields={fields}
      fresh={{ status: 'ACTIVE' }}
      titleOf={({ plate_number }) => plate_number}
      valuesOf={(row) => ({
        plate_number: row.plate_number,
        model: row.model,
        capacity: String(row.capacity),
        'driver.name': row.driver.name,
        'driver.phone': row.driver.phone ?? '',
        'driver.license_number': row.driver.license_number ?? '',
        features: row.features.join(', '),
        status: row.status,
      })}
      create={(values, query) =>
        answered(api.POST('/api/v1/provider/buses', { params: { query }, body: bodyOf<Input>(fields, values) }))
      }
      change={(id, values, changed) =>
        answered(
          api.PATCH('/api/v1/provider/buses/{id}', {
            params: { path: { id } },
            body: bodyOf<Schemas['BusPatch']>(changed, values),
          }),
        )
      }
      remove={(id) => answered(api.DELETE('/api/v1/provider/buses/{id}', { params: { path: { id } } }))}
      facts={(row) => (
        <>
          <BusPhotos bus={row} />
          <Facts
            of={[
              [t('field.model'), row.model],
              [t('field.capacity'), row.capacity],
              [t('field.driver'), <bdi key="v">{row.driver.name}</bdi>],
              [t('field.driverPhone'), row.driver.phone && <CopyId key="v" id={row.driver.phone} />],
              [t('field.licence'), row.driver.license_number],
              [t('field.features'), row.features.join('، ')],
              [t('field.status'), label(row, 'status')],
              [t('field.id'), <CopyId key="v" id={row.id} whole />],
            ]}
          />
        </>
      )}
    />
  );
}
