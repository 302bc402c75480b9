import { useNow } from '@/hooks/useNow';
import { usePrinting } from '@/hooks/usePrinting';
import { useWords } from '@/i18n/useWords';
import { dayText, exactText, momentText, relativeText } from '@/lib/dates';

/** A moment in Riyadh, or how long ago it was; the other one, and the zone, on pointing at it. */
export function When({
  at,
  relative = false,
  ahead = false,
}: {
  at: string | null | undefined;
  relative?: boolean;
  /** It may be still to come; everything else has been, whatever the clocks say. */
  ahead?: boolean;
}) {
  const { t, language } = useWords();
  const now = useNow();
  // How long ago it was is soon untrue on paper.
  const onPaper = usePrinting();
  if (!at) return <span className="dimmed">–</span>;
  const ago = relativeText(at, relative && !ahead ? Math.max(now, Date.parse(at)) : now, language);
  const exact = t('time.inRiyadh', { time: exactText(at, language) });
  return (
    <time dateTime={at} title={relative ? exact : `${exact} · ${ago}`}>
      {relative && !onPaper ? ago : momentText(at, language)}
    </time>
  );
}

/** A business day. */
export function Day({ day }: { day: string | null | undefined }) {
  const { language } = useWords();
  if (!day) return <span className="dimmed">–</span>;
  return <time dateTime={day}>{dayText(day, language)}</time>;
}
