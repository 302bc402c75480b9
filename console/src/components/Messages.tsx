import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ApiError, NoAnswer } from '@/api/errors';
import { useWords } from '@/i18n/useWords';
import { fieldOf } from '@/lib/errorFields';
import { CopyId } from './CopyId';
import classes from './ui.module.css';

/** What an error says to people: the API's own words, or that no answer came. */
export function useErrorText(): (error: unknown) => string {
  const { t } = useWords();
  return (error) => {
    if (error instanceof ApiError && error.message) return error.message;
    if (error instanceof NoAnswer) return t('error.noAnswer');
    return t('error.unexpected');
  };
}

interface ErrorProps {
  error: unknown;
  retry?: () => void;
  /** The labels of fields, by the names that the API knows them by; of another one the message alone is shown. */
  labels?: Record<string, string>;
  /** Goes to a field that has a label. */
  goTo?: (field: string) => void;
}

/** Why something is not shown or was not done, and what finds the request in the logs. */
export function ErrorMessage({ error, retry, labels = {}, goTo }: ErrorProps) {
  const { t } = useWords();
  const text = useErrorText()(error);
  const api = error instanceof ApiError ? error : null;
  return (
    <div role="alert" className={classes.message}>
      <strong>{text}</strong>
      {api && Object.keys(api.fields).length > 0 && (
        <ul className={classes.small}>
          {Object.entries(api.fields)
            .filter(([field]) => field !== 'request_id')
            .map(([field, messages]) => {
              const known = fieldOf(field, Object.keys(labels));
              const label = known === null ? undefined : labels[known];
              return (
                <li key={field}>
                  {label !== undefined && known !== null && goTo ? (
                    <button
                      type="button"
                      className={classes.link}
                      onClick={() => {
                        goTo(known);
                      }}
                    >
                      {label}
                    </button>
                  ) : (
                    label
                  )}
                  {label !== undefined && ': '}
                  {messages.join(' · ')}
                </li>
              );
            })}
        </ul>
      )}
      {api?.requestId && (
        <span className={classes.small}>
          {api.code} · {t('error.request')} <CopyId id={api.requestId} />
        </span>
      )}
      {retry && !(api && [403, 404, 410, 422].includes(api.status)) && (
        <Button size="xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={retry}>
          {t('error.retry')}
        </Button>
      )}
    </div>
  );
}

export function EmptyMessage({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.message}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}
