/* eslint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role --
   on narrow screens rows are cards, and a table that is not laid out as one loses its roles */
import { useWords } from '@/i18n/useWords';
import type { Column } from './columns';
import ui from './ui.module.css';

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  rowId: (row: T) => string;
  empty?: string;
}

/** A few rows within a page. */
export function MiniTable<T>({ label, rows, columns, rowId, empty }: Props<T>) {
  const { t } = useWords();
  if (rows.length === 0) return <p className="dimmed">{empty ?? t('list.empty')}</p>;
  return (
    // A group and no region: the part of the page around it is that, by the same name.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard
    <div className={ui.scroll} tabIndex={0} role="group" aria-label={label}>
      <table role="table" className={ui.plain}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ id, header, align }) =>
              header === '' ? (
                <td key={id} role="cell" />
              ) : (
                <th key={id} role="columnheader" scope="col" data-align={align}>
                  {header}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowId(row)} role="row">
              {columns.map(({ id, header, cell, align }) => (
                <td key={id} role="cell" data-align={align} data-label={header}>
                  {align === 'end' ? <span>{cell(row)}</span> : cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
