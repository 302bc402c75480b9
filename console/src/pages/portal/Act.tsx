import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { QueryKey } from '@tanstack/react-query';
import ui from '@/components/ui.module.css';
import type { Field, Values } from '@/forms/fields';
import { FormDialog } from '@/forms/FormDialog';

interface Props {
  label: string;
  what: string;
  hint?: string;
  fields?: Field[];
  initial?: Values;
  changes: readonly QueryKey[];
  done: string;
  submit: (values: Values, key: string) => Promise<unknown>;
  keyed?: boolean;
}

/** A button that does one thing to one resource, once it is confirmed. */
export function Act({ label, what, hint, fields = [], initial = {}, changes, done, submit, keyed = false }: Props) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" onClick={open}>
        {label}
      </Button>
      <FormDialog
        opened={opened}
        close={close}
        title={label}
        fields={fields}
        initial={initial}
        submitLabel={label}
        changes={changes}
        done={done}
        keyed={keyed}
        submit={submit}
      >
        <p className={ui.text}>
          <bdi>{what}</bdi>
        </p>
        {hint && <p className={ui.text}>{hint}</p>}
      </FormDialog>
    </>
  );
}
