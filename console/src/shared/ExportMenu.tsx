import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconFileExport, IconHistory } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { downloadFile } from '@/api/download';
import { useMay } from '@/app/me';
import { Detail } from '@/components/Detail';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';
import { Exports } from './Exports';

const formats = ['xlsx', 'csv'] as const;

/** The ledger as a file: everything that the filters find, not only what is shown. */
export function ExportMenu({ filters }: { filters: Record<string, string> }) {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();
  const queries = useQueryClient();
  const [opened, { open, close }] = useDisclosure();
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
      void queries.invalidateQueries({ queryKey: ['exports'] });
    }
  };

  return (
    <>
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
          {may('ListExports') && (
            <Menu.Item leftSection={<IconHistory size={14} />} onClick={open}>
              {t('export.history')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Detail opened={opened} close={close} title={t('export.history')}>
        <Exports kind="FINANCIAL_RECORDS" />
      </Detail>
    </>
  );
}
