import { Button, Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMediaQuery } from '@mantine/hooks';
import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { Fragment, useEffect, useRef, useState, type ReactNode, type RefObject, type SyntheticEvent } from 'react';
import { ApiError } from '@/api/errors';
import { ErrorMessage, useErrorText } from '@/components/Messages';
import ui from '@/components/ui.module.css';
import { useWords } from '@/i18n/useWords';
import { byField } from '@/lib/errorFields';
import { narrow } from '@/lib/screen';
import { Said, Toast, type Done } from './Toast';
import { FieldInput } from './FieldInput';
import type { Field, Values } from './fields';
import { useIntention } from './useIntention';
import { useFieldCheck } from './useFieldCheck';

interface Props<N extends string> {
  opened: boolean;
  close: () => void;
  title: ReactNode;
  fields: readonly Field<N>[];
  initial?: Values;
  /** What the button does; with the values it may say how much. */
  submitLabel: string | ((values: Values) => string);
  /** What the other button says, where Cancel would say too little, or the opposite. */
  leaveLabel?: string;
  danger?: boolean;
  /**
   * Carries it out. `key` is the intention's Idempotency-Key, and `changed` the fields that are not as they were at first: of something
   * that exists only these are sent, so that what others have changed meanwhile stays. The answer may be a sentence for the reader, and a
   * link to what was made.
   */
  submit: (values: Values, key: string, changed: Field<N>[]) => Promise<unknown>;
  /** The key is sent: after a lost answer the same can be sent again, and is not done twice. */
  keyed?: boolean;
  /** The keys of what is old afterwards, each with all below it. */
  changes: readonly QueryKey[];
  /** What is said once it is done. */
  done: Done;
  size?: string;
  /** Above the fields: what it is about. */
  children?: ReactNode | ((values: Values) => ReactNode);
  /** Below one of the fields: what its value would do. */
  afterField?: (name: N, values: Values) => ReactNode;
  /** Below the fields: what these values would do. */
  after?: (values: Values) => ReactNode;
  /** Values that cannot be sent yet. */
  blocked?: (values: Values) => boolean;
}

const none: Values = {};

/** A form with more fields than these is a telephone's whole screen. */
const few = 3;

/** A dialog that does one thing, once. Everything that changes something goes through it. */
export function FormDialog<N extends string>({ opened, close, ...props }: Props<N>) {
  const { t } = useWords();
  const [held, setHeld] = useState(false);
  const onTelephone = useMediaQuery(narrow);
  const isLong = props.fields.length > few || props.size !== undefined;
  // A refusal that the reader has not put away.
  const refusalRef = useRef<unknown>(null);
  return (
    <Modal
      opened={opened}
      // While a request is under way another dialog may ask for a code: Escape is for that one alone. And a request whose end is not
      // known is not left by accident: its key is here and nowhere else.
      onClose={() => {
        if (held) return;
        refusalRef.current = null;
        close();
      }}
      withCloseButton={!held}
      title={props.title}
      size={props.size ?? 'md'}
      fullScreen={onTelephone && isLong}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Form {...props} close={close} onHeld={setHeld} refusalRef={refusalRef} />
    </Modal>
  );
}

function Form<N extends string>({
  close,
  fields,
  initial = none,
  submitLabel,
  leaveLabel,
  danger = false,
  submit,
  changes,
  done,
  children,
  afterField,
  after,
  blocked,
  keyed = false,
  onHeld,
  refusalRef,
}: Omit<Props<N>, 'opened' | 'title'> & { onHeld: (held: boolean) => void; refusalRef: RefObject<unknown> }) {
  const { t } = useWords();
  const queries = useQueryClient();
  const [values, setValues] = useState<Values>(initial);
  const changed = () => fields.filter(({ name }) => (values[name] ?? '') !== (initial[name] ?? ''));
  const { send, begin, busy, error, unknown } = useIntention((key) => submit(values, key, changed()));
  useEffect(begin, [begin]);
  const held = busy || (unknown && keyed);
  useEffect(() => {
    onHeld(held);
  }, [held, onHeld]);
  // Where the keyboard was is disabled while a request is under way. After a refusal it is where that can be put right.
  const form = useRef<HTMLFormElement>(null);
  const check = useFieldCheck(form);
  const wrong = check.error ?? error;
  useEffect(() => {
    if (error !== null && !busy)
      form.current?.querySelector<HTMLElement>('[aria-invalid=true], [type=submit]')?.focus();
  }, [error, busy]);
  useEffect(() => {
    if (check.tries > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [check.tries]);
  // The dialog goes with what it is about: a row that another person has decided leaves the list that is read again. Why it was refused
  // is then said beside the page.
  const errorText = useErrorText();
  const say = useRef(errorText);
  useEffect(() => {
    say.current = errorText;
  });
  useEffect(
    () => () => {
      const left = refusalRef.current;
      refusalRef.current = null;
      if (left !== null) notifications.show({ message: say.current(left), color: 'red', autoClose: false });
    },
    [refusalRef],
  );
  const reread = () => {
    for (const queryKey of changes) {
      // A first answer that is still on its way is from before the change, and would be taken for what came after it.
      void queries.cancelQueries({ queryKey }).then(() => queries.invalidateQueries({ queryKey }));
    }
  };

  const shown = fields.filter(({ when }) => !when || when(values));
  const names = shown.map(({ name }) => name);
  const messages = wrong instanceof ApiError ? byField(wrong.fields, names) : {};

  const onSubmit = async (event: SyntheticEvent) => {
    event.preventDefault();
    refusalRef.current = null;
    if (!check.passes()) return;
    const result = await send();
    if (!result.done && !result.unknown) refusalRef.current = result.error;
    // After a failure, too: what was read before may no longer be true. What the dialog is about stays until its end is known.
    if (result.done || !result.unknown) reread();
    if (!result.done) return;
    const said = result.value instanceof Said ? result.value.done : done;
    notifications.show({ message: <Toast done={said} />, color: 'teal' });
    close();
  };

  return (
    // What is missing is said in the page's language, which a browser's own words are not.
    <form ref={form} className={ui.stack} noValidate onSubmit={(event) => void onSubmit(event)}>
      {typeof children === 'function' ? children(values) : children}
      {shown.map((field, index) => (
        <Fragment key={field.name}>
          <FieldInput
            field={field}
            first={index === 0}
            value={values[field.name] ?? ''}
            error={messages[field.name]?.join(' · ')}
            disabled={held}
            change={(value) => {
              check.forget(field.name);
              setValues((before) => ({ ...before, [field.name]: value }));
            }}
          />
          {afterField?.(field.name, values)}
        </Fragment>
      ))}
      {after?.(values)}
      <div className={ui.formFoot}>
        {wrong !== null && (
          <ErrorMessage
            error={wrong}
            labels={Object.fromEntries(fields.map(({ name, label }) => [name, label]))}
            goTo={check.goTo}
          />
        )}
        {unknown && <p className={ui.text}>{t(keyed ? 'form.unknown' : 'form.unknownOnce')}</p>}
        <div className={ui.row}>
          <Button
            type="submit"
            classNames={{ root: ui.button ?? '', label: ui.buttonLabel ?? '' }}
            loading={busy}
            disabled={!unknown && (blocked?.(values) ?? false)}
            color={danger ? 'red' : 'cyan'}
          >
            {unknown && keyed ? t('form.again') : typeof submitLabel === 'string' ? submitLabel : submitLabel(values)}
          </Button>
          {/* Not disabled to the keyboard, which would find nothing at all in the dialog while a request is under way. */}
          <Button
            variant="default"
            aria-disabled={busy}
            data-disabled={busy}
            onClick={() => {
              if (busy) return;
              if (unknown) reread();
              refusalRef.current = null;
              onHeld(false);
              close();
            }}
          >
            {unknown ? t('form.leave') : (leaveLabel ?? t('action.cancel'))}
          </Button>
        </div>
      </div>
    </form>
  );
}
