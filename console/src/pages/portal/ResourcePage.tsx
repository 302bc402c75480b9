import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import type { Operation } from '@/api/access';
import type { Schemas } from '@/api/client';
import type { Collection } from '@/api/queries/lists';
import type { Resource } from '@/api/queries/resources';
import { isProvider, useMay, useMe } from '@/app/me';
import type { PageName } from '@/app/nav';
import { Beside } from '@/components/Beside';
import type { CardOf, Column } from '@/components/columns';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import type { Choice, Filter } from '@/components/Filters';
import { ListPage } from '@/components/ListPage';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { bodyOf, valuesOf, type Field, type Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';
import { Said } from '@/forms/Toast';
import { useBeside } from '@/hooks/useBeside';
import { useProviders } from '@/hooks/useProviders';
import { useWords } from '@/i18n/useWords';
import { columnsOf, factsOf, formOf, type ResourceFields, type Row } from './resourceFields';

/** Filters that every resource has. */
type Always = 'provider_id' | 'sort';

interface Props<T, B, P, F extends string> {
  name: PageName;
  of: Resource<T, B, P, F | Always>;
  filters: readonly Filter<NoInfer<F> | Always>[];
  sort?: string;
  /** Once each: form, columns and facts follow from them. */
  fields: ResourceFields<T, B, P>;
  /** A row on a telephone. */
  card: CardOf;
  /** What a new one's form begins with. */
  fresh: Values;
  titleOf: (row: T) => string;
  creates: Operation;
  /** Whether the row can be changed in its state. */
  editable?: (row: T) => boolean;
  actions?: (row: T) => ReactNode;
  /** In the form that changes a row, below one of its fields: what its value would do. */
  afterField?: (row: T, name: string, values: Values) => ReactNode;
  /** Above and below the facts of a row. */
  above?: (row: T) => ReactNode;
  below?: (row: T) => ReactNode;
  /** Between filters and rows. */
  notice?: ReactNode;
}

/** The published trips that use what was taken out of use, of which the first are named. */
interface Affected {
  affected_trips?: Schemas['AffectedTrip'][];
  affected_trips_total?: number;
}

/** What a provider has: a list, one beside it, and forms to add, change and remove. */
export function ResourcePage<T extends Row & Affected, B, P, F extends string>(props: Props<T, B, P, F>) {
  const { t, language } = useWords();
  const me = useMe();
  const may = useMay();
  const providers = useProviders();
  const { open } = useBeside();
  const staff = !isProvider(me);
  const company: Column<T> = {
    id: 'company',
    header: t('field.provider'),
    width: 9,
    cell: ({ provider_id }) => <bdi>{providers.nameOf(provider_id) ?? `…${provider_id.slice(-8)}`}</bdi>,
    text: ({ provider_id }) => providers.nameOf(provider_id) ?? provider_id,
  };
  // The props hold the list and its filters to each other.
  const list: Collection<T, string> = props.of.list;
  const columns = columnsOf(props.fields, language);
  return (
    <ListPage
      name={props.name}
      list={list}
      filters={staff ? [...props.filters, providers.filter] : props.filters}
      columns={staff ? [...columns, company] : columns}
      card={props.card}
      rowId={({ id }) => id}
      defaults={{ sort: props.sort ?? '-created_at' }}
      open={open}
      actions={may(props.creates) && <Add page={props} companies={staff ? providers.choices : null} />}
      above={({ rows, data }) => (
        <>
          {props.notice}
          <Beside rows={rows} read={data !== undefined} title={t(`nav.${props.name}`)} one={props.of.one}>
            {(row, { opened, close }) => (
              <Detail opened={opened} close={close} title={<bdi>{props.titleOf(row)}</bdi>}>
                <div className={ui.row}>
                  {(props.editable?.(row) ?? true) && <Change page={props} row={row} close={close} />}
                  {props.actions?.(row)}
                </div>
                {props.above?.(row)}
                <Facts
                  of={[...factsOf(props.fields, row, language), [t('field.id'), <CopyId key="v" id={row.id} whole />]]}
                />
                {props.below?.(row)}
              </Detail>
            )}
          </Beside>
        </>
      )}
    />
  );
}

function Add<T extends Row & Affected, B, P, F extends string>({
  page: { name, of, fields, fresh, titleOf },
  companies,
}: {
  page: Props<T, B, P, F>;
  companies: Choice[] | null;
}) {
  const { t } = useWords();
  const [opened, { open, close }] = useDisclosure();
  const form = formOf(fields);
  // Not of the body: it says for whom administrators make it.
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
        fields={company.concat(form)}
        initial={fresh}
        submitLabel={t('action.save')}
        changes={[of.list.queryKey]}
        done=""
        submit={async (values) => {
          const { provider_id = '' } = values;
          const { data } = await of.create(bodyOf<B>(form, values), provider_id ? { provider_id } : {});
          const title = titleOf(data);
          // A list by another order may not show it at once.
          const to = `/${name}?search=${encodeURIComponent(title)}`;
          return new Said({ text: t('done.created', { name: title }), to, label: t('action.open') });
        }}
      />
    </>
  );
}

function Change<T extends Row & Affected, B, P, F extends string>({
  page: { of, fields, titleOf, afterField },
  row,
  close: leave,
}: {
  page: Props<T, B, P, F>;
  row: T;
  close: () => void;
}) {
  const { t } = useWords();
  const [doing, setDoing] = useState<'edit' | 'remove' | null>(null);
  const [affected, setAffected] = useState<Affected>({});
  const form = formOf(fields);
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
        fields={form}
        initial={valuesOf(form, row)}
        afterField={(name, values) => afterField?.(row, name, values)}
        submitLabel={t('action.save')}
        changes={[of.list.queryKey]}
        done={t('done.saved', { name: titleOf(row) })}
        submit={async (values, _, changed) => {
          const { data } = await of.change(row.id, bodyOf<P>(changed, values));
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
        changes={[of.list.queryKey]}
        done={t('done.removed', { name: titleOf(row) })}
        submit={async () => {
          await of.remove(row.id);
          leave();
        }}
      >
        <p className={ui.text}>
          <bdi>{titleOf(row)}</bdi>
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
