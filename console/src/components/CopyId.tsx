import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useWords } from '@/i18n/useWords';
import { isUuid, shortId } from '@/lib/ids';
import classes from './ui.module.css';

interface Props {
  id: string | null | undefined;
  whole?: boolean;
  /** Beside a link that shows the id already. */
  iconOnly?: boolean;
}

/** An id, reference or number that one click copies. UUIDs are shown by their end, or whole. */
export function CopyId({ id, whole = false, iconOnly = false }: Props) {
  const { t } = useWords();
  if (!id) return <span className="dimmed">–</span>;
  return (
    <span className={classes.copy}>
      {!iconOnly && (
        <bdi className="ltr" title={id}>
          {isUuid(id) && !whole ? shortId(id) : id}
        </bdi>
      )}
      <CopyButton value={id} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? t('copy.done') : t('copy.this')}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="xs"
              aria-label={`${copied ? t('copy.done') : t('copy.this')} ${id}`}
              onClick={(event) => {
                event.stopPropagation();
                copy();
              }}
            >
              {copied ? <IconCheck size={13} /> : <IconCopy size={13} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  );
}
