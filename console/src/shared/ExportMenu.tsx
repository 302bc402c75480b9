import { Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconHistory } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { downloadFile } from '@/api/download';
import { exportQueries } from '@/api/queries/exports';
import type { RecordFilters } from '@/api/queries/records';
import { useMay } from '@/app/me';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';

const formats = ['xlsx', 'csv'] as const;

/** The ledger as a file that the API makes: everything that the filters find. They stand in the list's menu for exports. */
export function LedgerExports({ filters, history }: { filters: RecordFilters; history: () => void }) {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();
  const queries = useQueryClient();
  if (!may('ExportFinancialRecords')) return null;

  const save = async (format: (typeof formats)[number]) => {
    const id = notifications.show({ message: t('export.running', { kb: 0 }), loading: true, autoClose: false });
    const say = (message: string, color: string, autoClose: number | false) => {
      notifications.update({ id, message, color, loading: false, autoClose });
    };
    try {
      const query = new URLSearchParams({ ...filters, format, lang: language });
      await downloadFile(`/api/v1/admin/financial-records/export?${query.toString()}`, `records.${format}`, (bytes) => {
        notifications.update({ id, message: t('export.running', { kb: Math.ceil(bytes / 1024) }), loading: true });
      });
      say(t('export.done'), 'teal', 6000);
    } catch (error) {
      say(text(error), 'red', false);
    } finally {
      void queries.invalidateQueries({ queryKey: exportQueries.all });
    }
  };

  return (
    <>
      {formats.map((format) => (
        <Menu.Item key={format} onClick={() => void save(format)}>
          {t(`export.${format}`)}
        </Menu.Item>
      ))}
      {may('ListExports') && (
        <Menu.Item leftSection={<IconHistory size={14} />} onClick={history}>
          {t('export.history')}
        </Menu.Item>
      )}
    </>
  );
}
