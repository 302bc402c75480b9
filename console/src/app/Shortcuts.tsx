import { Kbd, Modal } from '@mantine/core';
import { Facts } from '@/components/Facts';
import { useWords } from '@/i18n/useWords';
import type { NavItem } from './nav';

/** What the keyboard does. */
export function ShortcutsDialog({ opened, close, pages }: { opened: boolean; close: () => void; pages: NavItem[] }) {
  const { t } = useWords();
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('keys.title')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Facts
        of={[
          [t('keys.search'), <Kbd key="k">/</Kbd>],
          [t('keys.rows'), <Keys key="k" of={['↑', '↓', 'j', 'k']} />],
          [t('keys.open'), <Kbd key="k">Enter</Kbd>],
          [t('keys.select'), <Keys key="k" of={['x']} />],
          [t('keys.this'), <Kbd key="k">?</Kbd>],
          ...pages.map(({ name, key }): [string, React.ReactNode] => [
            t(`nav.${name}`),
            <Keys key="k" of={['g', key]} />,
          ]),
        ]}
      />
    </Modal>
  );
}

const Keys = ({ of }: { of: string[] }) => (
  <span className="ltr">
    {of.map((key) => (
      <Kbd key={key} mr={4}>
        {key}
      </Kbd>
    ))}
  </span>
);
