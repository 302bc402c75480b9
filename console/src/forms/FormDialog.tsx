import { Button, Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode, type SyntheticEvent } from 'react';
import { ApiError } from '@/api/errors';
import { ErrorMessage } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { FieldInput } from './FieldInput';
import type { Field, Values } from './fields';
import { useIntention } from './useIntention';

interface Props {
  opened: boolean;
  close: () => void;
  title: ReactNode;
  fields: Field[];
  initial?: Values;
  submitLabel: string;
  danger?: boolean;
  /** Carries it out; `key` is the intention's Idempotency-Key. The answer may be a sentence for the reader. */
  submit: (values: Values, key: string) => Promise<unknown>;
  /** The first parts of the keys of queries that are old afterwards. */
  changes: string[];
  done?: string;
  size?: string;
  /** Above the fields: what it is about. */
  children?: ReactNode | ((values: Values) => ReactNode);
  /** Below the fields: what these values would do. */
  after?: (values: Values) => ReactNode;
  /** Values that cannot be sent yet. */
  blocked?: (values: Values) => boolean;
}

const none: Values = {};

/** A dialog that does one thing, once. Everything that changes something goes through it. */
export function FormDialog({ opened, close, ...props }: Props) {
  const { t } = useWords();
  const [busy, setBusy] = useState(false);
  return (
    <Modal
      opened={opened}
      // While a request is under way another dialog may ask for a code: Escape is for that one alone.
      onClose={() => {
        if (!busy) close();
      }}
      title={props.title}
      size={props.size ?? 'md'}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Form {...props} close={close} onBusy={setBusy} />
    </Modal>
  );
}

function Form({
  close,
  fields,
  initial = none,
  submitLabel,
  danger = false,
  submit,
  changes,
  done,
  children,
  after,
  blocked,
  onBusy,
}: Omit<Props, 'opened' | 'title'> & { onBusy: (busy: boolean) => void }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [values, setValues] = useState<Values>(initial);
  const { send, begin, busy, error, unknown } = useIntention((key) => submit(values, key));
  useEffect(begin, [begin]);

  const shown = fields.filter(({ when }) => !when || when(values));
  const messages = error instanceof ApiError ? error.fields : {};

  const onSubmit = async (event: SyntheticEvent) => {
    event.preventDefault();
    onBusy(true);
    const result = await send();
    onBusy(false);
    // After a failure, too: what was read before may no longer be true.
    for (const key of changes) void queries.invalidateQueries({ queryKey: [key] });
    if (!result.done) return;
    notifications.show({
      message: typeof result.value === 'string' ? result.value : (done ?? t('form.done')),
      color: 'teal',
    });
    close();
  };

  return (
    <form className={ui.stack} onSubmit={(event) => void onSubmit(event)}>
      {typeof children === 'function' ? children(values) : children}
      {shown.map((field, index) => (
        <FieldInput
          key={field.name}
          field={field}
          first={index === 0}
          value={values[field.name] ?? ''}
          error={messages[field.name]?.join(' · ')}
          disabled={busy || unknown}
          change={(value) => {
            setValues((before) => ({ ...before, [field.name]: value }));
          }}
        />
      ))}
      {after?.(values)}
      {error !== null && <ErrorMessage error={error} />}
      {unknown && <p className={ui.text}>{t('form.unknown')}</p>}
      <div className={ui.row}>
        <Button
          type="submit"
          loading={busy}
          disabled={!unknown && (blocked?.(values) ?? false)}
          color={danger ? 'red' : 'cyan'}
        >
          {unknown ? t('form.again') : submitLabel}
        </Button>
        <Button variant="default" onClick={close} disabled={busy}>
          {t('action.cancel')}
        </Button>
      </div>
    </form>
  );
}
