import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import classes from './timeline.module.css';
import { sentence, type Entry } from './timeline';

/** What happened, in order, with the facts behind each line. */
export function Timeline({ entries }: { entries: Entry[] }) {
  const { t, language } = useWords();
  if (entries.length === 0) return <p className="dimmed">{t('list.empty')}</p>;
  return (
    <ol className={classes.list}>
      {entries.map((entry) => (
        <li key={`${entry.at}${entry.message}`} data-kind={entry.kind}>
          <div className={classes.line}>
            <bdi>{sentence(entry, t, language)}</bdi>
            <span className={ui.small}>
              <When at={entry.at} />
            </span>
          </div>
          <details>
            <summary className={ui.small}>{t('timeline.facts')}</summary>
            <pre className="ltr">{JSON.stringify(entry.details, null, 2)}</pre>
          </details>
        </li>
      ))}
    </ol>
  );
}
