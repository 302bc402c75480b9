import { Button, Menu, Skeleton } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { IconColumns3, IconRefresh } from '@tabler/icons-react';
import { useCallback, type ReactNode } from 'react';
import type { FilterValues } from '@/api/client';
import type { Collection } from '@/api/queries/lists';
import type { PageName } from '@/app/nav';
import { useFilters } from '@/hooks/useFilters';
import { mostRows, useList, type List } from '@/hooks/useList';
import { usePrinting } from '@/hooks/usePrinting';
import { useWords } from '@/i18n/useWords';
import { dayText, wholePeriod } from '@/lib/dates';
import { countText } from '@/lib/money';
import { narrow } from '@/lib/screen';
import type { CardOf, Column } from './columns';
import { Slow } from './Card';
import { DataTable, type Selection } from './DataTable';
import { ExportMenu } from './ExportMenu';
import { Filters, filtersText, type Filter } from './Filters';
import { EmptyMessage, ErrorMessage } from './Messages';
import { PageHead } from './PageHead';
import { PaperTable } from './PaperTable';
import table from './table.module.css';
import classes from './ui.module.css';

interface Props<T, F extends string> {
  name: PageName;
  title?: ReactNode;
  /** What is listed; the filters are of the names that it has. */
  list: Collection<T, F>;
  filters: readonly Filter<NoInfer<F>>[];
  defaults?: FilterValues<NoInfer<F>>;
  columns: Column<T>[];
  /** A row on a telephone; a constant of the page. */
  card: CardOf;
  rowId: (row: T) => string;
  open?: (row: T) => void;
  selection?: Selection;
  /** How the API sorts when it is not asked: shown and not sent. An order of the page's own is one of its `defaults`. */
  sort?: string;
  /** Files that the API itself makes of what the filters find, as items of the export menu. */
  exports?: (filters: FilterValues<NoInfer<F>>) => ReactNode;
  actions?: ReactNode;
  /** Between filters and rows, such as totals. */
  above?: (list: List<T>, filters: FilterValues<NoInfer<F>>) => ReactNode;
}

/** A list: filters in the address, columns to choose, rows behind a cursor, and one menu to export it. */
export function ListPage<T extends object, F extends string>(props: Props<T, F>) {
  const { t, language } = useWords();
  const { filters, set, clear } = useFilters(
    props.filters.map(({ name }) => name),
    props.defaults as Record<string, string> | undefined,
  );
  const asked = props.filters.some(({ end }) => end) ? wholePeriod(filters) : filters;
  // The address is read by the names of these filters alone.
  const given = asked as FilterValues<F>;
  const list = useList(props.list, given);
  const [visibility, setVisibility] = useLocalStorage<Record<string, boolean>>({
    key: `rihla.columns.${props.name}`,
    defaultValue: Object.fromEntries(props.columns.map(({ id, hidden }) => [id, !hidden])),
    getInitialValueInEffect: false,
  });

  // On cards there is no place for more columns.
  const cards = useMediaQuery(narrow);
  const printing = usePrinting();

  const { hasNextPage, isFetching, fetchNextPage } = list;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);

  return (
    <div className={classes.page} data-fill="">
      <PageHead
        title={props.title ?? t(`nav.${props.name}`)}
        help={props.name}
        paper={[
          ...filtersText(props.filters, asked, language),
          t('list.shown', { shown: countText(list.rows.length, language), total: countText(list.total, language) }),
        ]}
      >
        {props.actions}
        {!cards && <ColumnsMenu columns={props.columns} visibility={visibility} set={setVisibility} />}
        <ExportMenu
          name={props.name}
          columns={props.columns}
          visibility={visibility}
          list={list}
          rowId={props.rowId}
          selected={props.selection?.ids}
        >
          {props.exports?.(given)}
        </ExportMenu>
      </PageHead>
      <Filters filters={props.filters} values={filters} set={set} clear={clear} />
      {asked !== filters && (
        <p className={`${classes.text ?? ''} on-screen`} aria-live="polite">
          {t('list.days', {
            from: dayText(asked['date_from'] ?? '', language),
            to: dayText(asked['date_to'] ?? '', language),
          })}
        </p>
      )}
      {props.above?.(list, given)}
      {printing && (
        <PaperTable label={t(`nav.${props.name}`)} rows={list.rows} columns={props.columns} rowId={props.rowId} />
      )}
      <Rows
        {...props}
        labels={Object.fromEntries(props.filters.map(({ name, label }) => [name, label]))}
        found={list}
        visibility={visibility}
        sort={filters['sort'] ?? props.sort ?? ''}
        onSort={(sort) => {
          set({ sort });
        }}
        onEnd={onEnd}
      />
      <div className={table.foot}>
        <span aria-live="polite">
          {list.data &&
            t('list.shown', { shown: countText(list.rows.length, language), total: countText(list.total, language) })}
        </span>
        {list.hasNextPage &&
          (list.readingAll ? (
            <Button size="compact-xs" variant="default" onClick={list.cancel}>
              {t('list.stop')}
            </Button>
          ) : (
            <>
              <Button size="compact-xs" variant="default" loading={isFetching} onClick={onEnd}>
                {t('list.more')}
              </Button>
              <Button size="compact-xs" variant="default" onClick={() => void list.readAll()}>
                {t('list.all', { count: Math.min(list.total, mostRows) })}
              </Button>
            </>
          ))}
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconRefresh size={13} />}
          onClick={() => void list.refetch()}
        >
          {t('list.refresh')}
        </Button>
        <span>{t('time.zone')}</span>
      </div>
    </div>
  );
}

interface RowsProps<T> extends Pick<Props<T, string>, 'name' | 'columns' | 'card' | 'rowId' | 'open' | 'selection'> {
  found: List<T>;
  /** The words for what an error may name. */
  labels: Record<string, string>;
  visibility: Record<string, boolean>;
  sort: string;
  onSort: (sort: string) => void;
  onEnd: () => void;
}

function Rows<T extends object>({ found: list, ...props }: RowsProps<T>) {
  const { t } = useWords();
  if (list.isPending) {
    return (
      <div className={table.wrap} aria-busy="true" aria-label={t('list.loading')} role="status">
        {Array.from({ length: 12 }, (_, line) => (
          <Skeleton key={line} height={20} m={10} width="auto" />
        ))}
        <Slow />
      </div>
    );
  }
  if (list.isError && list.rows.length === 0)
    return <ErrorMessage error={list.error} retry={() => void list.refetch()} labels={props.labels} />;
  if (list.rows.length === 0) {
    return (
      <div className={classes.card}>
        <EmptyMessage title={t('list.empty')}>{t('list.emptyHint')}</EmptyMessage>
      </div>
    );
  }
  return (
    <>
      {list.isError && <ErrorMessage error={list.error} retry={() => void list.fetchNextPage()} />}
      <DataTable
        label={t(`nav.${props.name}`)}
        rows={list.rows}
        columns={props.columns}
        card={props.card}
        visibility={props.visibility}
        rowId={props.rowId}
        open={props.open}
        selection={props.selection}
        sort={props.sort}
        onSort={props.onSort}
        onEnd={props.onEnd}
      />
    </>
  );
}

interface ColumnsProps<T> {
  columns: Column<T>[];
  visibility: Record<string, boolean>;
  set: (visibility: Record<string, boolean>) => void;
}

function ColumnsMenu<T>({ columns, visibility, set }: ColumnsProps<T>) {
  const { t } = useWords();
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconColumns3 size={14} />}>
          {t('list.columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {columns.map(({ id, header }) => (
          <Menu.CheckboxItem
            key={id}
            checked={visibility[id] !== false}
            onChange={(shown) => {
              set({ ...visibility, [id]: shown });
            }}
          >
            {header}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
