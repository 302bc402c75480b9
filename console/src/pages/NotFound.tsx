import { Link } from 'react-router';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';

export function Component() {
  const { t } = useWords();
  return (
    <div className={ui.message}>
      <h1>{t('error.noPage')}</h1>
      <Link to="/">{t('nav.overview')}</Link>
    </div>
  );
}
