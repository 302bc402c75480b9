import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { endAllSessions, endSession, type Session } from '@/api/identity';
import { meQueries } from '@/api/queries/me';
import { Answer, Card } from '@/components/Card';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { FormDialog } from '@/forms/FormDialog';
import { useWords } from '@/i18n/useWords';
import { deviceOf } from './device';
import classes from './security.module.css';

export function Sessions() {
  const { t } = useWords();
  const navigate = useNavigate();
  const sessions = useQuery(meQueries.sessions());
  const [ending, setEnding] = useState<Session | 'all' | null>(null);
  const close = () => {
    setEnding(null);
  };
  return (
    <Card
      title={t('session.title')}
      aside={
        <Button
          size="compact-xs"
          variant="default"
          className={ui.push}
          onClick={() => {
            setEnding('all');
          }}
        >
          {t('session.endAll')}
        </Button>
      }
    >
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
                    onClick={() => {
                      setEnding(session);
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
      {ending !== null && ending !== 'all' && (
        <FormDialog
          opened
          close={close}
          title={t('session.endOne')}
          fields={[]}
          submitLabel={t('session.endOne')}
          danger
          changes={[meQueries.sessions().queryKey]}
          done={t('session.ended', { device: deviceOf(ending.user_agent) })}
          submit={() => endSession(ending.id)}
        >
          <p className={ui.text}>
            <bdi>{deviceOf(ending.user_agent)}</bdi> · <bdi className="ltr">{ending.address}</bdi>
          </p>
        </FormDialog>
      )}
      <FormDialog
        opened={ending === 'all'}
        close={close}
        title={t('session.endAll')}
        fields={[]}
        submitLabel={t('session.endAll')}
        danger
        changes={[]}
        done={t('session.endedAll')}
        submit={async () => {
          await endAllSessions();
          await navigate('/sign-in');
        }}
      >
        <p className={ui.text}>{t('session.endAllHint', { count: sessions.data?.length ?? 0 })}</p>
      </FormDialog>
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
          {t('session.lastUsed')}: {session.current ? t('session.now') : <When at={session.last_used_at} relative />}
        </li>
        <li>
          {t('session.begun')}: <When at={session.created_at} />
        </li>
        <li>
          {t('session.ends')}: <When at={session.expires_at} relative ahead />
        </li>
      </ul>
    </div>
  );
}
