import { Button, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { answered, api } from '@/api/client';
import { incidentQueries } from '@/api/queries/incidents';
import { useMay } from '@/app/me';
import { Answer } from '@/components/Card';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useIntention } from '@/forms/useIntention';
import { useWords } from '@/i18n/useWords';

/** What staff have found out about an incident, oldest first, and a field for more. A note is not changed once it is written. */
export function Notes({ incidentId }: { incidentId: string }) {
  const { t } = useWords();
  const may = useMay();
  const notes = useQuery(incidentQueries.notes(incidentId));
  return (
    <section className={ui.stack} aria-label={t('incident.notes')}>
      <h3 className={ui.subhead}>{t('incident.notes')}</h3>
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
      {may('AddIncidentNote') && <AddNote incidentId={incidentId} />}
    </section>
  );
}

function AddNote({ incidentId }: { incidentId: string }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [note, setNote] = useState('');
  const { send, begin, busy, error, unknown } = useIntention((key) =>
    answered(
      api.POST('/api/v1/admin/incidents/{id}/notes', {
        params: { path: { id: incidentId }, header: { 'Idempotency-Key': key } },
        body: { note: note.trim() },
      }),
    ),
  );
  const onSubmit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const { done } = await send();
    void queries.invalidateQueries({ queryKey: incidentQueries.notes(incidentId).queryKey });
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
