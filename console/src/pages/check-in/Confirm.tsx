import { Button, Drawer } from '@mantine/core';
import { useWords } from '@/i18n/useWords';
import type { Passenger } from './kept';
import classes from './check-in.module.css';

interface Props {
  passenger: Passenger | null;
  close: () => void;
  go: (passenger: Passenger) => void;
}

/** Asks once more before a passenger is checked in from the list: it cannot be taken back. */
export function Confirm({ passenger, close, go }: Props) {
  const { t } = useWords();
  return (
    <Drawer
      opened={passenger !== null}
      onClose={close}
      position="bottom"
      classNames={{ content: classes.sheet ?? '' }}
      title={t('checkIn.sure')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      {passenger && (
        <div className={classes.confirm}>
          <p>
            <bdi className={classes.title}>{passenger.name}</bdi>
            <br />
            <bdi className="ltr dimmed">{passenger.booking_number}</bdi>
          </p>
          <p className="dimmed">{t('checkIn.noUndo')}</p>
          <Button
            size="lg"
            data-autofocus
            onClick={() => {
              go(passenger);
              close();
            }}
          >
            {t('checkIn.checkIn')}
          </Button>
          <Button size="lg" variant="default" onClick={close}>
            {t('action.cancel')}
          </Button>
        </div>
      )}
    </Drawer>
  );
}
