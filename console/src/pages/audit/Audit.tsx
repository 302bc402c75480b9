import { Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from 'react-router';
import type { FilterValues, Schemas } from '@/api/client';
import { downloadFile } from '@/api/download';
import { auditExportAddress } from '@/api/identity';
import { auditQueries } from '@/api/queries/audit';
import { useMay } from '@/app/me';
import { Beside } from '@/components/Beside';
import type { Column } from '@/components/columns';
import { CopyId } from '@/components/CopyId';
import { Detail } from '@/components/Detail';
import { Facts } from '@/components/Facts';
import type { Choice } from '@/components/Filters';
import { ListPage } from '@/components/ListPage';
import { useErrorText } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useBaseFilters } from '@/hooks/useBaseFilters';
import { useBeside } from '@/hooks/useBeside';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';

/** Words by the codes of the log. */
type Words = Record<string, string>;

const choicesOf = (words: Words): Choice[] => Object.entries(words).map(([value, label]) => ({ value, label }));

/** What the log calls by codes, in words; an entry of another version may have a code without any. */
function useAuditWords() {
  const { t } = useWords();
  const actions: Words = t('auditAction', { returnObjects: true });
  const entities: Words = t('auditEntity', { returnObjects: true });
  const word = (words: Words, code: string) => words[code] ?? code;
  return { actions, entities, word };
}

type Entry = Schemas['AuditLog'];

const card = { title: ['action'], meta: ['actor', 'entity', 'created'] };

export function Component() {
  const { t } = useWords();
  const base = useBaseFilters();
  const parts = useColumnParts();
  const { open } = useBeside();
  const { actions, entities, word } = useAuditWords();
  const columns: Column<Entry>[] = [
    {
      id: 'created',
      header: t('audit.at'),
      width: 10,
      sort: 'created_at',
      cell: ({ created_at }) => <When at={created_at} />,
      text: ({ created_at }) => created_at,
    },
    parts.plain('action', t('audit.action'), 15, ({ action }) => word(actions, action)),
    parts.plain('code', t('audit.code'), 13, ({ action }) => action, { hidden: true }),
    {
      id: 'actor',
      header: t('audit.actor'),
      width: 10,
      cell: ({ actor_id, actor_name, operator, actor_kind }) => {
        if (operator ?? actor_name) return <bdi>{operator ?? actor_name}</bdi>;
        return actor_id ? <CopyId id={actor_id} /> : t(`audit.kind.${actor_kind}`);
      },
      text: ({ actor_id, actor_name, operator, actor_kind }) => operator ?? actor_name ?? actor_id ?? actor_kind,
    },
    parts.plain('role', t('field.role'), 10, ({ actor_role }) => (actor_role ? t(`role.${actor_role}`) : null)),
    parts.plain('entity', t('audit.entity'), 7, ({ entity }) => word(entities, entity)),
    {
      id: 'entityId',
      header: t('audit.entityId'),
      width: 8,
      cell: ({ entity_id }) => <CopyId id={entity_id} />,
      text: ({ entity_id }) => entity_id ?? '',
    },
    parts.plain('details', t('field.details'), 16, ({ details }) => JSON.stringify(details), { hidden: true }),
  ];
  return (
    <ListPage
      name="audit"
      filters={[
        { name: 'action', label: t('audit.action'), kind: 'choice', choices: choicesOf(actions) },
        { name: 'entity', label: t('audit.entity'), kind: 'choice', choices: choicesOf(entities) },
        { name: 'entity_id', label: t('audit.entity'), kind: 'given' },
        { name: 'actor_id', label: t('audit.actor'), kind: 'given' },
        base.period,
        base.from,
        base.to,
      ]}
      columns={columns}
      card={card}
      list={auditQueries.list}
      rowId={({ id }) => id}
      sort="-created_at"
      open={open}
      exports={(filters) => <AuditExport filters={filters} />}
      above={({ rows, data }) => (
        <Beside rows={rows} read={data !== undefined} title={t('nav.audit')}>
          {(entry, { opened, close }) => <EntryDetail entry={entry} opened={opened} close={close} />}
        </Beside>
      )}
    />
  );
}

function EntryDetail({ entry, opened, close }: { entry: Entry; opened: boolean; close: () => void }) {
  const { t } = useWords();
  const { actions, entities, word } = useAuditWords();
  return (
    <Detail opened={opened} close={close} title={word(actions, entry.action)}>
      <Facts
        of={[
          [t('audit.at'), <When key="v" at={entry.created_at} />],
          [t('audit.code'), <CopyId key="v" id={entry.action} whole />],
          [
            t('audit.actor'),
            <bdi key="v">{entry.operator ?? entry.actor_name ?? t(`audit.kind.${entry.actor_kind}`)}</bdi>,
          ],
          [t('audit.actorId'), entry.actor_id && <CopyId key="v" id={entry.actor_id} whole />],
          [t('field.role'), entry.actor_role && t(`role.${entry.actor_role}`)],
          [t('audit.entity'), word(entities, entry.entity)],
          [t('audit.entityId'), entry.entity_id && <CopyId key="v" id={entry.entity_id} whole />],
          [t('audit.address'), entry.address],
          [t('audit.agent'), entry.user_agent],
          [t('error.request'), entry.request_id && <CopyId key="v" id={entry.request_id} whole />],
        ]}
      />
      <div className={ui.row}>
        {entry.entity_id && (
          <Link to={`/audit?entity=${entry.entity}&entity_id=${entry.entity_id}`}>{t('audit.sameEntity')}</Link>
        )}
        {entry.actor_id && <Link to={`/audit?actor_id=${entry.actor_id}`}>{t('audit.sameActor')}</Link>}
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard */}
      <pre className={`ltr ${ui.code ?? ''}`} tabIndex={0} aria-label={t('field.details')} role="group">
        {JSON.stringify(entry.details, null, 2)}
      </pre>
    </Detail>
  );
}

function AuditExport({ filters }: { filters: FilterValues<string> }) {
  const { t } = useWords();
  const may = useMay();
  const text = useErrorText();
  if (!may('ExportAuditLogs')) return null;
  const save = async () => {
    try {
      const query = new URLSearchParams({ ...filters, format: 'csv' });
      query.delete('sort');
      await downloadFile(auditExportAddress(query), 'audit.csv', () => undefined);
      notifications.show({ message: t('export.done'), color: 'teal' });
    } catch (error) {
      notifications.show({ message: text(error), color: 'red', autoClose: false });
    }
  };
  return <Menu.Item onClick={() => void save()}>{t('export.csv')}</Menu.Item>;
}
