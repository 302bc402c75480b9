/* eslint-disable jsx-a11y/no-interactive-element-to-noninteractive-role -- on narrow screens rows are cards, and a table that is not laid out as one loses its
   roles */
import { Fragment, memo, type KeyboardEvent, type MouseEvent, type Ref } from 'react';
import { useWords } from '@/i18n/useWords';
import { metaOf, titleOf, type CardColumns, type Column } from './columns';
import classes from './table.module.css';

/** Whether an event belongs to something within a row, and not to the row. */
export const inside = (event: MouseEvent | KeyboardEvent) =>
  (event.target as Element).closest('a, button, input, label') !== null;

interface Props<T> {
  row: T;
  id: string;
  index: number;
  columns: Column<T>[];
  /** Instead of the columns, on narrow screens. */
  card: CardColumns<T> | null;
  /** Reached by the tab key; the others by arrows. */
  current: boolean;
  focused: (index: number) => void;
  open: ((row: T) => void) | undefined;
  /** Without it rows cannot be selected. */
  toggle: ((id: string) => void) | undefined;
  selected: boolean;
  /** Takes the row's height, where rows differ. */
  measure: Ref<HTMLTableRowElement> | undefined;
}

function Row<T>({ row, id, index, columns, card, current, focused, open, toggle, selected, measure }: Props<T>) {
  const { t } = useWords();
  return (
    <tr
      role="row"
      ref={measure}
      data-index={index}
      data-open={open ? '' : undefined}
      aria-rowindex={index + 2}
      aria-selected={toggle ? selected : undefined}
      tabIndex={current ? 0 : -1}
      onFocus={() => {
        focused(index);
      }}
      onClick={(event) => {
        if (!inside(event) && window.getSelection()?.isCollapsed !== false) open?.(row);
      }}
    >
      {toggle && (
        <td role="cell" className={card ? classes.pick : undefined}>
          <input
            type="checkbox"
            className={classes.check}
            aria-label={t('list.select')}
            checked={selected}
            onChange={() => {
              toggle(id);
            }}
          />
        </td>
      )}
      {card ? (
        <Card of={card} row={row} />
      ) : (
        columns.map((column) => (
          <td key={column.id} role="cell" data-align={column.align}>
            {column.cell(row)}
          </td>
        ))
      )}
    </tr>
  );
}

/** Title and amount, and below them one line and the state. What is no title has its column's name for who cannot see where it stands. */
function Card<T>({ of, row }: { of: CardColumns<T>; row: T }) {
  const { amount, badge } = of;
  const title = titleOf(of, row);
  const meta = metaOf(of, row);
  const name = (column: Column<T>) => <span className="hidden-words">{column.header}: </span>;
  return (
    <>
      <td role="cell" className={classes.title}>
        {title?.cell(row)}
      </td>
      {amount && (
        <td role="cell" className={classes.amount} data-align="end">
          {name(amount)}
          {amount.cell(row)}
        </td>
      )}
      {meta.length > 0 && (
        <td role="cell" className={classes.meta}>
          {meta.map((column, index) => (
            <Fragment key={column.id}>
              {index > 0 && ' · '}
              {name(column)}
              {column.cell(row)}
            </Fragment>
          ))}
        </td>
      )}
      {badge && (
        <td role="cell" className={classes.state}>
          {badge.cell(row)}
        </td>
      )}
    </>
  );
}

/** A row of a list. Scrolling draws only the rows that come into sight: the others are as they were. */
export const DataRow = memo(Row) as typeof Row;
