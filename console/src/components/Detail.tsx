import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/useWords';
import ui from './ui.module.css';

interface Props {
  opened: boolean;
  close: () => void;
  title: ReactNode;
  children: ReactNode;
}

/** One row of a list, beside it. */
export function Detail({ opened, close, title, children }: Props) {
  const { t } = useWords();
  return (
    <Drawer
      opened={opened}
      onClose={close}
      position="right"
      size="32rem"
      title={title}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <div className={ui.stack}>{children}</div>
    </Drawer>
  );
}
