import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useWords } from '@/i18n/useWords';
import type { Language } from '@/i18n';
import { dayText, periodChange } from '@/lib/dates';
import { isUuid, shortId } from '@/lib/ids';
import classes from './table.module.css';

/** A value as people can read it: ids by their end. */
const shortValue = (value: string) => (isUuid(value) ? shortId(value) : value);

/** The choices, and the value that is chosen already where it is none of them. */
export const withChosen = (choices: Choice[], chosen: string[]): Choice[] => [
  ...choices,
  ...chosen
    .filter((one) => one !== '' && !choices.some(({ value }) => value === one))
    .map((value) => ({ value, label: shortValue(value) })),
];

export interface Choice {
  value: string;
  label: string;
  /** A sentence beside it, where choices are all in sight. */
  hint?: string;
}

/** A filter of a list, by the name of its query parameter. */
export interface Filter<N extends string = string> {
  name: N;
  label: string;
  /** `given` comes by a link or by the search above all pages: it is shown while it narrows the list, and can be taken away. */
  kind: 'search' | 'choice' | 'text' | 'day' | 'given';
  choices?: Choice[];
  placeholder?: string;
  /** One of the two ends of a period, which the API wants both of. */
  end?: boolean;
}

/** The filters that narrow a list, in words: for paper, where they cannot be looked at. */
export const filtersText = (
  filters: readonly Filter[],
  values: Record<string, string | undefined>,
  language: Language,
): string[] =>
  filters.flatMap(({ name, label, kind, choices = [] }) => {
    const value = values[name];
    if (!value) return [];
    const chosen = choices.find((one) => one.value === value)?.label;
    const text = kind === 'day' ? dayText(value, language) : (chosen ?? shortValue(value));
    return [`${label}: \u2068${text}\u2069`];
  });

interface Props {
  filters: readonly Filter[];
  values: Record<string, string>;
  set: (changes: Record<string, string>) => void;
  clear: () => void;
}

export function Filters({ filters, values, set, clear }: Props) {
  const { t } = useWords();
  const [closed, setClosed] = useState(true);
  const active = filters.filter(({ name, kind }) => kind !== 'search' && values[name]).length;
  return (
    <search className={classes.filters} data-closed={closed || undefined}>
      {filters.map((filter) => (
        <Field
          key={filter.name}
          filter={filter}
          value={values[filter.name] ?? ''}
          change={(value) => {
            set(filter.end || filter.name === 'period' ? periodChange(filter.name, value) : { [filter.name]: value });
          }}
        />
      ))}
      {filters.some(({ kind }) => kind !== 'search' && kind !== 'given') && (
        <div className={`${classes.tight ?? ''} ${classes.toggle ?? ''}`}>
          <Button
            size="xs"
            variant="default"
            aria-expanded={!closed}
            leftSection={<IconFilter size={14} />}
            onClick={() => {
              setClosed(!closed);
            }}
          >
            {t('list.filters', { count: active })}
          </Button>
        </div>
      )}
      {filters.some(({ name }) => values[name]) && (
        <div className={classes.tight}>
          <Button size="xs" variant="subtle" onClick={clear}>
            {t('list.clear')}
          </Button>
        </div>
      )}
    </search>
  );
}

interface FieldProps {
  filter: Filter;
  value: string;
  change: (value: string) => void;
}

function Field({ filter, value, change }: FieldProps) {
  const { t } = useWords();
  if (filter.kind === 'given') {
    if (value === '') return null;
    return (
      <div className={classes.tight}>
        <Button
          size="xs"
          variant="light"
          rightSection={<IconX size={13} />}
          aria-label={t('list.without', { filter: filter.label })}
          title={value}
          onClick={() => {
            change('');
          }}
        >
          {filter.label}&nbsp;<bdi>{shortValue(value)}</bdi>
        </Button>
      </div>
    );
  }
  if (filter.kind === 'choice') {
    return (
      <Select
        size="xs"
        label={filter.label}
        data={withChosen(filter.choices ?? [], [value])}
        value={value || null}
        onChange={(next) => {
          change(next ?? '');
        }}
        clearable
        searchable={(filter.choices?.length ?? 0) > 8}
        placeholder={filter.placeholder ?? ''}
      />
    );
  }
  return <Typed filter={filter} value={value} change={change} />;
}

/** A field that is typed into: the address, and with it the list, follows after a moment without a key. */
function Typed({ filter, value, change }: FieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => {
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the address changes by links and buttons, too
    setText(value);
  }, [value]);
  const later = useDebouncedCallback(change, 350);
  const search = filter.kind === 'search';
  return (
    <TextInput
      size="xs"
      className={search ? classes.wide : undefined}
      type={filter.kind === 'day' ? 'date' : search ? 'search' : 'text'}
      label={filter.label}
      placeholder={filter.placeholder ?? ''}
      leftSection={search ? <IconSearch size={14} /> : undefined}
      data-search={search ? '' : undefined}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        later(event.currentTarget.value.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') change(text.trim());
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
