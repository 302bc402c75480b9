import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState } from 'react';
import { useWords } from '@/i18n/useWords';
import { isUuid, shortId } from '@/lib/ids';
import classes from './ui.module.css';

interface Props {
  id: string | null | undefined;
  whole?: boolean;
  /** Beside a link that shows the id already. */
  iconOnly?: boolean;
}

/** How long a button says that it has copied, in milliseconds. */
const shownFor = 1500;

/** An id, reference or number that one click copies. UUIDs are shown by their end, or whole. */
export function CopyId({ id, whole = false, iconOnly = false }: Props) {
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  const label = copied ? t('copy.done') : t('copy.this');
  if (!id) return <span className="dimmed">–</span>;
  return (
    <span className={classes.copy}>
      {!iconOnly && (
        <bdi className="ltr" title={id}>
          {isUuid(id) && !whole ? shortId(id) : id}
        </bdi>
      )}
      <button
        type="button"
        className={classes.copyButton}
        title={label}
        aria-label={`${label} ${id}`}
        onClick={(event) => {
          event.stopPropagation();
          void navigator.clipboard.writeText(id).then(() => {
            setCopied(true);
            window.setTimeout(setCopied, shownFor, false);
          });
        }}
      >
        {copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
      </button>
    </span>
  );
}
