import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileExport } from '@tabler/icons-react';
import { useState } from 'react';
import { downloadFile } from '@/api/download';
import { useMay } from '@/app/me';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';

const formats = ['xlsx', 'csv'] as const;

/** The ledger as a file: everything that the filters find, not only what is shown. */
export function ExportMenu({ filters }: { filters: Record<string, string> }) {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();
  const [bytes, setBytes] = useState<number | null>(null);
  if (!may('ExportFinancialRecords')) return null;

  const save = async (format: (typeof formats)[number]) => {
    setBytes(0);
    try {
      const query = new URLSearchParams({ ...filters, format, lang: language });
      await downloadFile(`/api/v1/admin/financial-records/export?${query.toString()}`, `records.${format}`, setBytes);
      notifications.show({ message: t('export.done'), color: 'teal' });
    } catch (error) {
      notifications.show({ message: text(error), color: 'red', autoClose: false });
    } finally {
      setBytes(null);
    }
  };

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconFileExport size={14} />} disabled={bytes !== null}>
          {bytes === null ? t('export.title') : t('export.running', { kb: Math.ceil(bytes / 1024) })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item key={format} onClick={() => void save(format)}>
            {t(`export.${format}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
