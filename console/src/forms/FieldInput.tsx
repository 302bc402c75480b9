import { Checkbox, MultiSelect, PasswordInput, Radio, Select, Textarea, TextInput } from '@mantine/core';
import { withChosen } from '@/components/Filters';
import { useWords } from '@/i18n/useWords';
import ui from '@/components/ui.module.css';
import { visibleText } from '@/lib/input';
import { currencyText } from '@/lib/money';
import type { Field } from './fields';

interface Props {
  field: Field;
  value: string;
  error: string | undefined;
  disabled: boolean;
  first: boolean;
  change: (value: string) => void;
}

const types: Partial<Record<NonNullable<Field['kind']>, string>> = {
  email: 'email',
  phone: 'tel',
  day: 'date',
  moment: 'datetime-local',
};

const leftToRight = new Set<Field['kind']>(['email', 'phone', 'money', 'number', 'rate', 'password']);

export function FieldInput({ field, value, error, disabled, first, change }: Props) {
  const { t, language } = useWords();
  const { kind = 'text', label, hint, required = false, choices = [] } = field;
  const shared = {
    label,
    description: hint,
    error,
    disabled,
    required,
    'data-field': field.name,
    'data-autofocus': first || undefined,
  };
  const onText = (event: { currentTarget: { value: string } }) => {
    const { value: typed } = event.currentTarget;
    change(kind === 'email' ? visibleText(typed) : typed);
  };

  if (kind === 'choice') {
    return (
      <Select
        {...shared}
        data={withChosen(choices, [value])}
        value={value || null}
        searchable={choices.length > 8}
        clearable={!required}
        allowDeselect={!required}
        onChange={(next) => {
          change(next ?? '');
        }}
      />
    );
  }
  if (kind === 'choices') {
    return (
      <MultiSelect
        {...shared}
        data={withChosen(choices, value.split(','))}
        value={value === '' ? [] : value.split(',')}
        onChange={(next) => {
          change(next.join(','));
        }}
      />
    );
  }
  if (kind === 'radios' || kind === 'checks') return <InSight {...{ field, value, error, disabled, change }} />;
  if (kind === 'area') return <Textarea {...shared} autosize minRows={2} maxRows={8} value={value} onChange={onText} />;
  if (kind === 'password') {
    return (
      <PasswordInput
        {...shared}
        autoComplete="new-password"
        value={value}
        visibilityToggleButtonProps={{ 'aria-label': t('signIn.show') }}
        onChange={onText}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      type={types[kind] ?? 'text'}
      {...(leftToRight.has(kind) && { dir: 'ltr', attributes: { input: { dir: 'ltr' } } })}
      inputMode={kind === 'money' || kind === 'rate' ? 'decimal' : kind === 'number' ? 'numeric' : undefined}
      rightSection={
        kind === 'money' ? (
          <small className="dimmed">{currencyText('SAR', language)}</small>
        ) : kind === 'rate' ? (
          '%'
        ) : undefined
      }
      autoComplete="off"
      value={value}
      onChange={onText}
    />
  );
}

/** Choices that are all in sight, each with its sentence: one of them, or several. */
function InSight({ field, value, error, disabled, change }: Omit<Props, 'first'>) {
  const { kind, label, required = false, hint, choices = [] } = field;
  const shared = { label, description: hint, error, required, 'data-field': field.name };
  if (kind === 'checks') {
    return (
      <Checkbox.Group
        {...shared}
        value={value === '' ? [] : value.split(',')}
        onChange={(next) => {
          change(next.join(','));
        }}
      >
        <div className={ui.choices}>
          {choices.map((one) => (
            <Checkbox
              key={one.value}
              size="xs"
              value={one.value}
              label={<bdi>{one.label}</bdi>}
              description={one.hint}
              disabled={disabled}
            />
          ))}
        </div>
      </Checkbox.Group>
    );
  }
  return (
    <Radio.Group {...shared} value={value} onChange={change}>
      <div className={ui.choices}>
        {choices.map((one) => (
          <Radio
            key={one.value}
            size="xs"
            value={one.value}
            label={one.label}
            description={one.hint}
            disabled={disabled}
          />
        ))}
      </div>
    </Radio.Group>
  );
}
