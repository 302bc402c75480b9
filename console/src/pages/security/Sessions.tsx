import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { endAllSessions, endSession, listSessions, type Session } from '@/api/identity';
import { Answer, Card } from '@/components/Card';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { deviceOf } from './device';
import classes from './security.module.css';

export function Sessions() {
  const { t } = useWords();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: ({ signal }) => listSessions(signal) });
  const end = useMutation({
    mutationFn: endSession,
    onSettled: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const endAll = useMutation({
    mutationFn: endAllSessions,
    onSuccess: async () => {
      queries.clear();
      await navigate('/sign-in');
    },
  });
  return (
    <Card
      title={t('session.title')}
      aside={
        <Button
          size="compact-xs"
          variant="default"
          className={ui.push}
          loading={endAll.isPending}
          onClick={() => {
            endAll.mutate();
          }}
        >
          {t('session.endAll')}
        </Button>
      }
    >
      {end.isError && <ErrorMessage error={end.error} />}
      {endAll.isError && <ErrorMessage error={endAll.error} />}
      <Answer query={sessions}>
        {(data) => (
          <ul className={classes.sessions}>
            {data.map((session) => (
              <li key={session.id}>
                <SessionFacts session={session} />
                {session.current ? (
                  <span className={ui.push}>{t('session.this')}</span>
                ) : (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="red"
                    className={ui.push}
                    aria-label={`${t('session.end')}: ${deviceOf(session.user_agent)}`}
                    loading={end.isPending && end.variables === session.id}
                    onClick={() => {
                      end.mutate(session.id);
                    }}
                  >
                    {t('session.end')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </Card>
  );
}

function SessionFacts({ session }: { session: Session }) {
  const { t } = useWords();
  return (
    <div>
      <strong title={session.user_agent}>
        <bdi>{deviceOf(session.user_agent)}</bdi>
      </strong>{' '}
      <bdi className="ltr dimmed">{session.address}</bdi>
      <ul className={classes.times}>
        <li>
          {t('session.lastUsed')}: <When at={session.last_used_at} relative />
        </li>
        <li>
          {t('session.begun')}: <When at={session.created_at} />
        </li>
        <li>
          {t('session.ends')}: <When at={session.expires_at} relative />
        </li>
      </ul>
    </div>
  );
}
