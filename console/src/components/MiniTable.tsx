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
      <table className={ui.plain}>
        <thead>
          <tr>
            {columns.map(({ id, header, align }) =>
              header === '' ? (
                <td key={id} />
              ) : (
                <th key={id} scope="col" data-align={align}>
                  {header}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowId(row)}>
              {columns.map(({ id, cell, align }) => (
                <td key={id} data-align={align}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
