/* eslint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role --
   on narrow screens rows are cards, and a table that is not laid out as one loses its roles */
import { Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { columnVisibilityFeature, tableFeatures, useTable, type ColumnVisibilityState } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { useWords } from '@/i18n/useWords';
import type { Column } from './columns';
import { SortHead } from './SortHead';
import classes from './table.module.css';

const features = tableFeatures({ columnVisibilityFeature });

/** Below this, rows are cards and the page scrolls instead of the table. */
export const narrow = '(max-width: 48em)';

export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  /** Selects all of these, or none of them. */
  toggleAll: (ids: string[]) => void;
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  visibility: ColumnVisibilityState;
  rowId: (row: T) => string;
  open?: ((row: T) => void) | undefined;
  selection?: Selection | undefined;
  sort: string;
  onSort: (sort: string) => void;
  onEnd: () => void;
}

const inside = (event: MouseEvent | KeyboardEvent) =>
  (event.target as Element).closest('a, button, input, label') !== null;

/** Rows of a list. Only those in sight are in the document, so that ten thousand are as quick as ten. */
export function DataTable<T extends object>(props: Props<T>) {
  const { rows, columns, visibility, rowId, open, selection, onEnd } = props;
  const { t } = useWords();
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- undefined until it has been measured
  const isNarrow = useMediaQuery(narrow) ?? false;
  const wrap = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const [active, setActive] = useState(0);

  const defs = useMemo(() => columns.map(({ id, header }) => ({ id, header })), [columns]);
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const table = useTable({
    features,
    data: rows,
    columns: defs,
    getRowId: rowId,
    state: { columnVisibility: visibility },
  });
  const shown = table.getVisibleLeafColumns().flatMap(({ id }) => byId.get(id) ?? []);

  // eslint-disable-next-line react-hooks/incompatible-library -- its rows are drawn here and nowhere else
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => (isNarrow ? document.querySelector('main') : wrap.current),
    estimateSize: () => (isNarrow ? 34 + 25 * shown.length : 38),
    scrollMargin: isNarrow ? (wrap.current?.offsetTop ?? 0) : 0,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 20) onEnd();
  }, [last, rows.length, onEnd]);

  const focus = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
    // The row may only now come into the document.
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-index="${String(next)}"]`)?.focus());
  };

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || inside(event)) return;
    const at = rows[active];
    const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    if (step !== undefined) focus(active + step);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(rows.length - 1);
    else if (event.key === 'Enter' && at && open) open(at);
    else if ((event.key === 'x' || event.key === ' ') && at && selection) selection.toggle(rowId(at));
    else return;
    event.preventDefault();
  };

  const count = shown.length + (selection ? 1 : 0);
  const margin = virtual.options.scrollMargin;
  const before = (items[0]?.start ?? margin) - margin;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? margin) + margin;
  const width = shown.reduce((sum, column) => sum + column.width, selection ? 2.5 : 0);

  return (
    <div ref={wrap} className={classes.wrap} {...(isNarrow ? {} : { tabIndex: -1 })}>
      <table
        role="table"
        className={classes.table}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        style={isNarrow ? undefined : { minInlineSize: `${String(width)}rem` }}
      >
        <colgroup>
          {selection && <col style={{ inlineSize: '2.5rem' }} />}
          {shown.map((column) => (
            <col key={column.id} style={{ inlineSize: `${String(column.width)}rem` }} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row">
            {selection && (
              <th role="columnheader" scope="col">
                <Checkbox
                  size="xs"
                  aria-label={t('list.selectAll')}
                  checked={rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)))}
                  onChange={() => {
                    selection.toggleAll(rows.map(rowId));
                  }}
                />
              </th>
            )}
            {shown.map((column) => (
              <SortHead key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys of the rows, which have the focus */}
        <tbody role="rowgroup" ref={body} onKeyDown={onKey}>
          <Space height={before} count={count} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const id = rowId(row);
            return (
              <tr
                key={id}
                role="row"
                ref={virtual.measureElement}
                data-index={index}
                data-open={open ? '' : undefined}
                aria-rowindex={index + 2}
                aria-selected={selection ? selection.ids.has(id) : undefined}
                tabIndex={index === Math.min(active, rows.length - 1) ? 0 : -1}
                onFocus={() => {
                  setActive(index);
                }}
                onClick={(event) => {
                  if (!inside(event) && window.getSelection()?.isCollapsed !== false) open?.(row);
                }}
              >
                {selection && (
                  <td role="cell" data-label={t('list.select')}>
                    <Checkbox
                      size="xs"
                      aria-label={t('list.select')}
                      checked={selection.ids.has(id)}
                      onChange={() => {
                        selection.toggle(id);
                      }}
                    />
                  </td>
                )}
                {shown.map((column) => (
                  <td key={column.id} role="cell" data-align={column.align} data-label={column.header}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Space height={after} count={count} />
        </tbody>
      </table>
    </div>
  );
}

/** The height of the rows that are not in the document. */
function Space({ height, count }: { height: number; count: number }) {
  if (height <= 0) return null;
  return (
    <tr className={classes.space} aria-hidden="true">
      <td colSpan={count} style={{ blockSize: height }} />
    </tr>
  );
}
