import { ActionIcon, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconHelp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { helpOf } from '@/api/queries/help';
import type { PageName } from '@/app/nav';
import { useWords } from '@/i18n/useWords';
import { Answer } from './Card';
import ui from './ui.module.css';

/** docs/console, made into HTML when the console is built. */
const texts = import.meta.glob<string>('../../../docs/console/*.md', { import: 'default' });

export function HelpButton({ page }: { page: PageName }) {
  const { t, language } = useWords();
  const [opened, { open, close }] = useDisclosure();
  const load = texts[`../../../docs/console/${page}.${language}.md`];
  const help = useQuery({ ...helpOf(page, language, load), enabled: opened });
  if (!load) return null;
  return (
    <>
      <ActionIcon variant="subtle" color="gray" onClick={open} aria-label={t('help.open')} title={t('help.open')}>
        <IconHelp size={18} />
      </ActionIcon>
      <Drawer
        opened={opened}
        onClose={close}
        position="right"
        title={t('help.title')}
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        {/* Nothing of it comes from outside: the texts are files of the repository. */}
        <Answer query={help}>{(html) => <div className={ui.help} dangerouslySetInnerHTML={{ __html: html }} />}</Answer>
      </Drawer>
    </>
  );
}
