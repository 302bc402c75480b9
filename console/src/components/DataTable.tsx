/* eslint-disable jsx-a11y/no-redundant-roles --
   on narrow screens rows are cards, and a table that is not laid out as one loses its roles */
import { Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useKeptScroll } from '@/hooks/useKeptScroll';
import { useWords } from '@/i18n/useWords';
import { keyOf } from '@/lib/keys';
import { narrow } from '@/lib/screen';
import { cardColumns, type CardOf, type Column } from './columns';
import { DataRow, inside } from './DataRow';
import { SortHead } from './SortHead';
import classes from './table.module.css';

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
  card: CardOf;
  /** Columns that are false here are not shown. */
  visibility: Record<string, boolean>;
  rowId: (row: T) => string;
  open?: ((row: T) => void) | undefined;
  selection?: Selection | undefined;
  sort: string;
  onSort: (sort: string) => void;
  onEnd: () => void;
}

/** How many rows before the end more of them are read. */
const ahead = 60;

/** The height of a row on wide screens, as table.module.css says, in pixels. */
const rowHeight = () => 2.375 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** About the height of a card, before it is measured. */
const cardHeight = 70;

/** Rows of a list. Only those in sight are in the document, so that ten thousand are as quick as ten. */
export function DataTable<T extends object>(props: Props<T>) {
  const { rows, columns, visibility, rowId, open, selection, onEnd } = props;
  const { t } = useWords();
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- undefined until it has been measured
  const isNarrow = useMediaQuery(narrow) ?? false;
  const wrap = useRef<HTMLDivElement>(null);
  useKeptScroll(wrap, 'rows');
  const body = useRef<HTMLTableSectionElement>(null);
  const [active, setActive] = useState(0);

  const height = useMemo(rowHeight, []);
  const shown = useMemo(() => columns.filter(({ id }) => visibility[id] !== false), [columns, visibility]);

  const { card: cardOf } = props;
  // The same object while nothing changes: rows are drawn again with another one.
  const card = useMemo(() => (isNarrow ? cardColumns(columns, cardOf) : null), [isNarrow, columns, cardOf]);

  // eslint-disable-next-line react-hooks/incompatible-library -- its rows are drawn here and nowhere else
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => (isNarrow ? document.querySelector('main') : wrap.current),
    estimateSize: () => (isNarrow ? cardHeight : height),
    scrollMargin: isNarrow ? (wrap.current?.offsetTop ?? 0) : 0,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;

  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - ahead) onEnd();
  }, [last, rows.length, onEnd]);

  const focus = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
    // The row may only now come into the document.
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>(`[data-index="${String(next)}"]`)?.focus());
  };

  // From anywhere on the page j and k go to the rows, as long as nothing else has the focus.
  const goTo = useRef(focus);
  useEffect(() => {
    goTo.current = focus;
  });
  useEffect(() => {
    const onPage = (event: globalThis.KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !['j', 'k'].includes(keyOf(event))) return;
      const at = document.activeElement;
      if (at !== null && at !== document.body && at.tagName !== 'MAIN' && at !== wrap.current) return;
      goTo.current(active);
      event.preventDefault();
    };
    window.addEventListener('keydown', onPage);
    return () => {
      window.removeEventListener('keydown', onPage);
    };
  }, [active]);

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || inside(event)) return;
    // The row that has the focus: a line that came meanwhile moves it on without a word.
    const index = Number((event.target as HTMLElement).closest('tr')?.dataset['index'] ?? active);
    const at = rows[index];
    const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 };
    const key = keyOf(event.nativeEvent);
    const step = steps[key];
    if (step !== undefined) focus(index + step);
    else if (key === 'Home') focus(0);
    else if (key === 'End') focus(rows.length - 1);
    else if (key === 'Enter' && at && open) open(at);
    else if ((key === 'x' || key === ' ') && at && selection) selection.toggle(rowId(at));
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
              <DataRow
                key={id}
                row={row}
                id={id}
                index={index}
                columns={shown}
                card={card}
                current={index === Math.min(active, rows.length - 1)}
                focused={setActive}
                open={open}
                toggle={selection?.toggle}
                selected={selection?.ids.has(id) ?? false}
                // Rows of a wide screen are all alike.
                measure={isNarrow ? virtual.measureElement : undefined}
              />
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
