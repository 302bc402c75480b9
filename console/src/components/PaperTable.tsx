import type { Column } from './columns';
import classes from './table.module.css';

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  rowId: (row: T) => string;
}

/** A list on paper: all rows that were read, and not those in sight alone, with all columns. */
export function PaperTable<T>({ label, rows, columns, rowId }: Props<T>) {
  return (
    <table className={classes.paper} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ id, header, align }) => (
            <th key={id} scope="col" data-align={align}>
              {header}
            </th>
          ))}
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
  );
}
