import { IconExternalLink } from '@tabler/icons-react';
import { useWords } from '@/i18n/useWords';
import { CopyId } from './CopyId';
import ui from './ui.module.css';

/** A workflow's id, and a link to its story where the service knows the address of Temporal's pages. */
export function WorkflowLink({ id, url }: { id: string; url: string | null | undefined }) {
  const { t } = useWords();
  return (
    <span className={ui.row}>
      <CopyId id={id} whole />
      {url && (
        <a href={url} target="_blank" rel="noreferrer">
          {t('booking.openWorkflow')} <IconExternalLink size={14} aria-hidden="true" />
        </a>
      )}
    </span>
  );
}
