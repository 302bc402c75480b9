import { Link } from 'react-router';
import { EmptyMessage } from '@/components/Messages';
import { useWords } from '@/i18n/useWords';

export function Component() {
  const { t } = useWords();
  return (
    <EmptyMessage title={t('error.noPage')}>
      <Link to="/">{t('nav.overview')}</Link>
    </EmptyMessage>
  );
}
