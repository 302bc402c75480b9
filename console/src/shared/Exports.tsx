import type { Schemas } from '@/api/client';
import { exportQueries } from '@/api/queries/exports';
import { Badge } from '@/components/Badge';
import { Answer } from '@/components/Card';
import { EmptyMessage } from '@/components/Messages';
import { More } from '@/components/More';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { usePages } from '@/hooks/usePages';
import { useWords } from '@/i18n/useWords';
import { countText } from '@/lib/money';

/** Files that were exported: who asked, by which filters, and whether they are whole. */
export function Exports({ kind }: { kind: Schemas['ExportKind'] }) {
  const { t, label, language } = useWords();
  const list = usePages(exportQueries.of(kind), {
    // One that is being written is looked at until it has ended.
    again: (rows) => (rows.some(({ status }) => status === 'RUNNING') ? 3000 : false),
  });
  return (
    <Answer query={list}>
      {(found) =>
        found.length === 0 ? (
          <EmptyMessage title={t('export.none')} />
        ) : (
          <>
            <ul className={ui.notes}>
              {found.map((one) => (
                <li key={one.id}>
                  <span className={ui.row}>
                    <Badge state={one.status}>{label(one, 'status')}</Badge>
                    <When at={one.started_at} />
                    <bdi>{one.requested_by_name ?? (one.requested_by_role && t(`role.${one.requested_by_role}`))}</bdi>
                  </span>
                  <p>
                    <bdi className="ltr">{one.format.toUpperCase()}</bdi>
                    {one.rows !== null && ` · ${t('export.rows', { rows: countText(one.rows, language) })}`}
                    {one.bytes !== null && ` · ${t('export.size', { kb: Math.ceil(one.bytes / 1024) })}`}
                  </p>
                  <Filtered by={one.filters} />
                </li>
              ))}
            </ul>
            <More list={list} />
          </>
        )
      }
    </Answer>
  );
}

function Filtered({ by }: { by: Schemas['Export']['filters'] }) {
  const texts = Object.entries(by).map(([name, value]) => `${name}=${String(value)}`);
  if (texts.length === 0) return null;
  return (
    <p className={ui.small}>
      <bdi className="ltr">{texts.join(' · ')}</bdi>
    </p>
  );
}
