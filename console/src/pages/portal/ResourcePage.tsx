import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import type { Operation } from '@/api/access';
import type { Schemas } from '@/api/client';
import { isProvider, useMay, useMe } from '@/app/me';
import type { PageName } from '@/app/nav';
import type { Column } from '@/components/columns';
import { Detail } from '@/components/Detail';
import type { Filter } from '@/components/Filters';
import { ListPage } from '@/components/ListPage';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import type { Field, Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import type { ReadPage } from '@/hooks/useList';
import { useProviders } from '@/hooks/useProviders';
import { useSelected } from '@/hooks/useSelected';
import { useWords } from '@/i18n/useWords';

interface Props<T> {
  name: PageName;
  filters: Filter[];
  columns: Column<T>[];
  read: ReadPage<T>;
  sort?: string;
  fields: Field[];
  /** What a new one's form begins with. */
  fresh: Values;
  valuesOf: (row: T) => Values;
  titleOf: (row: T) => string;
  /** `query` names the company that administrators make it for. */
  create: (values: Values, query: { provider_id?: string }) => Promise<{ data: T }>;
  /** `changed` are the fields to send: what others have changed meanwhile stays. */
  change: (id: string, values: Values, changed: Field[]) => Promise<{ data: T }>;
  remove: (id: string) => Promise<unknown>;
  creates: Operation;
  /** Whether the row can be changed in its state. */
  editable?: (row: T) => boolean;
  facts: (row: T) => ReactNode;
  actions?: (row: T) => ReactNode;
  /** Between filters and rows. */
  notice?: ReactNode;
}

/** The published trips that use what was taken out of use, of which the first are named. */
interface Affected {
  affected_trips?: Schemas['AffectedTrip'][];
  affected_trips_total?: number;
}

interface Resource extends Affected {
  id: string;
  provider_id: string;
}

/** What a company has: a list, one beside it, and forms to add, change and remove. */
export function ResourcePage<T extends Resource>(props: Props<T>) {
  const { t } = useWords();
  const me = useMe();
  const may = useMay();
  const providers = useProviders();
  const selected = useSelected<T>(({ id }) => id);
  const staff = !isProvider(me);
  const company: Column<T> = {
    id: 'company',
    header: t('field.provider'),
    width: 9,
    cell: ({ provider_id }) => <bdi>{providers.nameOf(provider_id) ?? `…${provider_id.slice(-8)}`}</bdi>,
    text: ({ provider_id }) => providers.nameOf(provider_id) ?? provider_id,
  };
  return (
    <ListPage<T>
      name={props.name}
      filters={staff ? [...props.filters, providers.filter] : props.filters}
      columns={staff ? [...props.columns, company] : props.columns}
      queryKey={[props.name]}
      read={props.read}
      rowId={({ id }) => id}
      defaults={{ sort: props.sort ?? '-created_at' }}
      open={selected.open}
      actions={may(props.creates) && <Add {...props} companies={staff ? providers.choices : null} />}
      above={({ rows }) => {
        const row = selected.current(rows);
        return (
          <>
            {props.notice}
            {row && (
              <Detail opened={selected.opened} close={selected.close} title={<bdi>{props.titleOf(row)}</bdi>}>
                <div className={ui.row}>
                  {(props.editable?.(row) ?? true) && <Change {...props} row={row} close={selected.close} />}
                  {props.actions?.(row)}
                </div>
                {props.facts(row)}
              </Detail>
            )}
          </>
        );
      }}
    />
  );
}

function Add<T extends Resource>({
  name,
  fields,
  fresh,
  create,
  titleOf,
  companies,
}: Props<T> & { companies: Field['choices'] | null }) {
  const { t } = useWords();
  const [opened, { open, close }] = useDisclosure();
  const company: Field[] = companies
    ? [{ name: 'provider_id', label: t('field.provider'), kind: 'choice', required: true, choices: companies }]
    : [];
  return (
    <>
      <Button size="xs" leftSection={<IconPlus size={14} />} onClick={open}>
        {t('portal.add')}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={t(`portal.new.${name as 'trips'}`)}
        fields={[...company, ...fields]}
        initial={fresh}
        submitLabel={t('action.save')}
        changes={[name]}
        done=""
        submit={async (values) => {
          const { data } = await create(values, values['provider_id'] ? { provider_id: values['provider_id'] } : {});
          const title = titleOf(data);
          // A list by another order may not show it at once.
          const to = `/${name}?search=${encodeURIComponent(title)}`;
          return new Said({ text: t('done.created', { name: title }), to, label: t('action.open') });
        }}
      />
    </>
  );
}

function Change<T extends Resource>({ row, close: leave, ...props }: Props<T> & { row: T; close: () => void }) {
  const { t } = useWords();
  const [doing, setDoing] = useState<'edit' | 'remove' | null>(null);
  const [affected, setAffected] = useState<Affected>({});
  const close = () => {
    setDoing(null);
  };
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          setDoing('edit');
        }}
      >
        {t('action.edit')}
      </Button>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          setDoing('remove');
        }}
      >
        {t('action.delete')}
      </Button>
      <FormDialog
        opened={doing === 'edit'}
        close={close}
        title={t('action.edit')}
        fields={props.fields}
        initial={props.valuesOf(row)}
        submitLabel={t('action.save')}
        changes={[props.name]}
        done={t('done.saved', { name: props.titleOf(row) })}
        submit={async (values, _, changed) => {
          const { data } = await props.change(row.id, values, changed);
          setAffected(data);
        }}
      />
      <AffectedTrips
        of={affected}
        close={() => {
          setAffected({});
        }}
      />
      <FormDialog
        opened={doing === 'remove'}
        close={close}
        title={t('action.delete')}
        fields={[]}
        submitLabel={t('action.delete')}
        danger
        changes={[props.name]}
        done={t('done.removed', { name: props.titleOf(row) })}
        submit={async () => {
          await props.remove(row.id);
          leave();
        }}
      >
        <p className={ui.text}>
          <bdi>{props.titleOf(row)}</bdi>
        </p>
      </FormDialog>
    </>
  );
}

/** What is out of use is still on sale with these trips: each needs another one. */
function AffectedTrips({
  of: { affected_trips: trips = [], affected_trips_total: total = 0 },
  close,
}: {
  of: Affected;
  close: () => void;
}) {
  const { t } = useWords();
  return (
    <Modal
      opened={trips.length > 0}
      onClose={close}
      title={t('portal.affected', { count: total })}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <p className={ui.text}>{t('portal.affectedHint')}</p>
      <ul className={ui.text}>
        {trips.map(({ id, title, departure_at }) => (
          <li key={id}>
            <Link to={`/trips?search=${encodeURIComponent(title)}`}>
              <bdi>{title}</bdi>
            </Link>{' '}
            · <When at={departure_at} />
          </li>
        ))}
      </ul>
    </Modal>
  );
}
