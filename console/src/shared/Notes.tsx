import { Button, Textarea } from '@mantine/core';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { QueryKey } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { Answer } from '@/components/Card';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useIntention } from '@/forms/useIntention';
import { useWords } from '@/i18n/useWords';

interface Note {
  id: string;
  author_name: string;
  note: string;
  created_at: string;
}

interface Props {
  title: string;
  notes: UseQueryResult<{ data: Note[] }>;
  /** What the notes are kept under. */
  queryKey: QueryKey;
  /** Writes one more; null for who may not. */
  add: ((note: string, key: string) => Promise<unknown>) | null;
}

/** What staff know about something, and a field for more. A note is not changed once it is written. */
export function Notes({ title, notes, queryKey, add }: Props) {
  const { t } = useWords();
  return (
    <section className={ui.stack} aria-label={title}>
      <h3 className={ui.subhead}>{title}</h3>
      <Answer query={notes} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={ui.small}>{t('incident.noNotes')}</p>
          ) : (
            <ol className={ui.notes}>
              {data.map(({ id, author_name, note, created_at }) => (
                <li key={id}>
                  <span className={ui.small}>
                    <bdi>{author_name}</bdi> · <When at={created_at} />
                  </span>
                  <p dir="auto">{note}</p>
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
      {add && <AddNote add={add} queryKey={queryKey} />}
    </section>
  );
}

function AddNote({ add, queryKey }: { add: NonNullable<Props['add']>; queryKey: QueryKey }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [note, setNote] = useState('');
  const { send, begin, busy, error, unknown } = useIntention((key) => add(note.trim(), key));
  const onSubmit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const { done } = await send();
    void queries.invalidateQueries({ queryKey });
    if (!done) return;
    setNote('');
    begin();
  };
  return (
    <form className={ui.stack} onSubmit={(event) => void onSubmit(event)}>
      <Textarea
        label={t('incident.addNote')}
        value={note}
        autosize
        minRows={2}
        maxLength={2000}
        dir="auto"
        disabled={busy || unknown}
        onChange={(event) => {
          setNote(event.currentTarget.value);
        }}
      />
      {error !== null && <ErrorMessage error={error} labels={{ note: t('field.note') }} />}
      {unknown && <p className={ui.text}>{t('form.unknown')}</p>}
      <div>
        <Button type="submit" size="xs" variant="default" loading={busy} disabled={note.trim() === ''}>
          {unknown ? t('form.again') : t('incident.addNoteGo')}
        </Button>
      </div>
    </form>
  );
}
