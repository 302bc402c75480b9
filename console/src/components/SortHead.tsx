import { useWords } from '@/i18n/useWords';
import type { Column } from './columns';
import classes from './table.module.css';

interface Props<T> {
  column: Column<T>;
  sort: string;
  onSort: (sort: string) => void;
}

/** The head of a column; of one that sorts, a button that turns the order round. */
export function SortHead<T>({ column, sort, onSort }: Props<T>) {
  const { t } = useWords();
  const { sort: field } = column;
  const descending = sort === `-${field ?? ''}`;
  const sorted = field !== undefined && (descending || sort === field);
  return (
    <th
      role="columnheader"
      scope="col"
      data-align={column.align}
      aria-sort={sorted ? (descending ? 'descending' : 'ascending') : undefined}
    >
      {field === undefined ? (
        column.header
      ) : (
        <button
          type="button"
          className={classes.sort}
          title={t('list.sort')}
          onClick={() => {
            onSort(descending ? field : `-${field}`);
          }}
        >
          {column.header} {sorted && (descending ? '↓' : '↑')}
        </button>
      )}
    </th>
  );
}
