import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { endAllSessions, endSession, listSessions, type Session } from '@/api/identity';
import { Answer, Card } from '@/components/Card';
import type { Column } from '@/components/columns';
import { ErrorMessage } from '@/components/Messages';
import { MiniTable } from '@/components/MiniTable';
import ui from '@/components/ui.module.css';
import { When } from '@/components/When';
import { useWords } from '@/i18n/useWords';
import { useColumnParts } from '@/shared/columns';

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
  const parts = useColumnParts();
  const columns: Column<Session>[] = [
    parts.plain('agent', t('session.device'), 1, ({ user_agent }) => user_agent),
    parts.plain('address', t('session.network'), 1, ({ address }) => address),
    {
      id: 'used',
      header: t('session.lastUsed'),
      width: 1,
      cell: ({ last_used_at }) => <When at={last_used_at} relative />,
      text: () => '',
    },
    {
      id: 'begun',
      header: t('session.begun'),
      width: 1,
      cell: ({ created_at }) => <When at={created_at} />,
      text: () => '',
    },
    {
      id: 'ends',
      header: t('session.ends'),
      width: 1,
      cell: ({ expires_at }) => <When at={expires_at} relative />,
      text: () => '',
    },
    {
      id: 'end',
      header: '',
      width: 1,
      align: 'end',
      text: () => '',
      cell: ({ id, current }) =>
        current ? (
          t('session.this')
        ) : (
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            onClick={() => {
              end.mutate(id);
            }}
          >
            {t('session.end')}
          </Button>
        ),
    },
  ];
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
        {(data) => <MiniTable label={t('session.title')} rows={data} columns={columns} rowId={({ id }) => id} />}
      </Answer>
    </Card>
  );
}
