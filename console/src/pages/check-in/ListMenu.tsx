import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFileExport, IconPrinter } from '@tabler/icons-react';
import { downloadFile } from '@/api/download';
import { useMay } from '@/app/me';
import { useErrorText } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';
import { csvOf, download } from '@/lib/csv';
import { dayIn, momentText } from '@/lib/dates';
import type { Passenger, TripHead } from './kept';
import { fileOf } from './paper';
import classes from './check-in.module.css';

/** The passenger list on paper and as a file. With document numbers the API makes it, asks for a code and writes it down. */
export function ListMenu({ trip, passengers }: { trip: TripHead; passengers: Passenger[] }) {
  const { t, language } = useWords();
  const may = useMay();
  const text = useErrorText();

  const official = async (format: 'csv' | 'pdf') => {
    const id = notifications.show({ message: t('export.running', { kb: 0 }), loading: true, autoClose: false });
    const say = (message: string, color: string, autoClose: number | false) => {
      notifications.update({ id, message, color, loading: false, autoClose });
    };
    try {
      await downloadFile(
        `/api/v1/provider/trips/${trip.id}/manifest?format=${format}`,
        `passengers.${format}`,
        (bytes) => {
          notifications.update({ id, message: t('export.running', { kb: Math.ceil(bytes / 1024) }), loading: true });
        },
      );
      say(t('export.done'), 'teal', 6000);
    } catch (error) {
      say(text(error), 'red', false);
    }
  };

  const own = () => {
    const heads = ['#', t('field.name'), t('field.bookingNumber'), t('field.seats'), t('checkIn.boarded')];
    const day = dayIn(new Date(trip.departure_at));
    download(`passengers-${day}.csv`, csvOf(fileOf(passengers, heads, (at) => momentText(at, language))));
  };

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button className={classes.tall ?? ''} size="sm" variant="default" leftSection={<IconFileExport size={16} />}>
          {t('checkIn.paper.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconPrinter size={14} />}
          onClick={() => {
            window.print();
          }}
        >
          {t('checkIn.paper.print')}
        </Menu.Item>
        <Menu.Item onClick={own}>{t('checkIn.paper.csv')}</Menu.Item>
        {may('GetManifest') && (
          <>
            <Menu.Divider />
            <Menu.Label>{t('checkIn.paper.documents')}</Menu.Label>
            <Menu.Item onClick={() => void official('pdf')}>{t('checkIn.paper.pdf')}</Menu.Item>
            <Menu.Item onClick={() => void official('csv')}>{t('checkIn.paper.documentsCsv')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
