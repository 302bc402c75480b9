import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileExport, IconPrinter } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { mostRows, type List } from '@/hooks/useList';
import { useWords } from '@/i18n/useWords';
import { csvOf, download } from '@/lib/csv';
import { dayIn } from '@/lib/dates';
import { countText } from '@/lib/money';
import type { Column } from './columns';

interface Props<T> {
  name: string;
  columns: Column<T>[];
  visibility: Record<string, boolean>;
  list: List<T>;
  rowId: (row: T) => string;
  selected: ReadonlySet<string> | undefined;
  /** Files that the API makes, as items of the menu. */
  children?: ReactNode;
}

/** The one place where a list becomes a file: all that the filters find, or what is selected, with the columns that are shown or all. */
export function ExportMenu<T>({ name, columns, visibility, list, rowId, selected, children }: Props<T>) {
  const { t, language } = useWords();
  const [all, setAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const chosen = list.rows.filter((row) => selected?.has(rowId(row)));
  const tooMany = list.total > mostRows;

  const write = (rows: T[]) => {
    const shown = columns.filter(({ id }) => all || visibility[id] !== false);
    download(
      `${name}-${dayIn(new Date())}.csv`,
      csvOf([shown.map(({ header }) => header), ...rows.map((row) => shown.map(({ text }) => text(row)))]),
    );
    notifications.show({ message: t('export.rowsDone', { count: countText(rows.length, language) }), color: 'teal' });
  };
  const withAll = async (act: (rows: T[]) => void) => {
    setBusy(true);
    const rows = list.hasNextPage ? await list.readAll() : list.rows;
    setBusy(false);
    if (rows) act(rows);
    else notifications.show({ message: t('export.notWhole'), color: 'red', autoClose: false });
  };
  // The rows that were read last are drawn by then, and the menu is away.
  const print = () => {
    window.setTimeout(() => {
      window.print();
    }, 200);
  };

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconFileExport size={14} />} disabled={busy || !list.data}>
          {busy
            ? t('export.reading', {
                done: countText(list.rows.length, language),
                count: countText(list.total, language),
              })
            : t('export.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {children}
        {children ? <Menu.Divider /> : null}
        <Menu.Item disabled={list.total === 0 || tooMany} onClick={() => void withAll(write)}>
          {t('export.allRows', { count: countText(list.total, language) })}
        </Menu.Item>
        <Menu.Item
          disabled={list.total === 0 || tooMany}
          leftSection={<IconPrinter size={14} />}
          onClick={() => void withAll(print)}
        >
          {t('export.print', { count: countText(list.total, language) })}
        </Menu.Item>
        {tooMany && <Menu.Label>{t('export.tooMany', { count: countText(mostRows, language) })}</Menu.Label>}
        {selected && (
          <Menu.Item
            disabled={chosen.length === 0}
            onClick={() => {
              write(chosen);
            }}
          >
            {t('export.selectedRows', { count: countText(chosen.length, language) })}
          </Menu.Item>
        )}
        <Menu.CheckboxItem checked={all} closeMenuOnClick={false} onChange={setAll}>
          {t('export.allColumns')}
        </Menu.CheckboxItem>
      </Menu.Dropdown>
    </Menu>
  );
}
