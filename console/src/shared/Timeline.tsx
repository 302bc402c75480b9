import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { momentText } from '@/lib/dates';
import classes from './timeline.module.css';
import { lineKey, sentence, type Entry } from './timeline';

/** What happened, in order, with the facts behind each line. */
export function Timeline({ entries }: { entries: Entry[] }) {
  const { t, language } = useWords();
  if (entries.length === 0) return <p className="dimmed">{t('list.empty')}</p>;
  return (
    <ol className={classes.list}>
      {entries.map((entry) => (
        <li key={lineKey(entry)} data-kind={entry.kind} data-event={entry.event}>
          <div className={classes.line}>
            <bdi>{sentence(entry, t, language, (at) => momentText(at, language))}</bdi>
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
