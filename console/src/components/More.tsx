import { Button } from '@mantine/core';
import { useWords } from '@/i18n/useWords';

interface Props {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

/** Reads the next rows of a list within a page. */
export function More({ list }: Props) {
  const { t } = useWords();
  if (!list.hasNextPage) return null;
  return (
    <div>
      <Button
        size="compact-xs"
        variant="default"
        loading={list.isFetchingNextPage}
        onClick={() => void list.fetchNextPage()}
      >
        {t('list.more')}
      </Button>
    </div>
  );
}
