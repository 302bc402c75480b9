import { numberText, phoneText, plainText, withoutPercent } from '@/lib/input';
import { amountOf } from '@/lib/money';
import { momentOf } from '@/lib/dates';
import type { Choice } from '@/components/Filters';

export type Values = Record<string, string>;

/** A field of a form, by the name that the API knows it by; `driver.name` is the name in the driver. */
export interface Field {
  name: string;
  label: string;
  kind?:
    | 'text'
    | 'area'
    | 'email'
    | 'phone'
    | 'password'
    | 'money'
    | 'number'
    | 'rate'
    | 'choice'
    | 'choices'
    | 'words'
    | 'day'
    | 'moment';
  required?: boolean;
  choices?: Choice[];
  hint?: string;
  /** Shown, and sent, only then. */
  when?: (values: Values) => boolean;
}

const words = (text: string) =>
  text
    .split(/[\n,،]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** A number with or without a sign; null when it is none. */
function readNumber(text: string): number | null {
  const plain = plainText(text);
  const number = numberText(plain.replace(/^-/, ''));
  return number === null ? null : Number(plain.startsWith('-') ? `-${number}` : number);
}

/** What a field's text is in a request; null when it is empty. */
function valueOf({ kind = 'text' }: Field, text: string): unknown {
  if (kind === 'words' || kind === 'choices') return words(text);
  const trimmed = kind === 'password' ? text : text.trim();
  if (trimmed === '') return null;
  // What is no amount is sent as it was typed: the API says what is wrong with it.
  if (kind === 'money') return amountOf(trimmed) ?? trimmed;
  if (kind === 'number') return readNumber(trimmed) ?? trimmed;
  if (kind === 'rate') {
    const percent = readNumber(withoutPercent(trimmed));
    return percent === null ? trimmed : Math.round(percent * 100) / 10_000;
  }
  if (kind === 'phone') return phoneText(trimmed);
  if (kind === 'moment') return momentOf(trimmed);
  return trimmed;
}

/** The fields as the body of a request. Empty fields are null, or left out with `omitEmpty`. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- says which body it is at the call
export function bodyOf<T>(fields: Field[], values: Values, omitEmpty = false): T {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.when && !field.when(values)) continue;
    const value = valueOf(field, values[field.name] ?? '');
    if (value === null && omitEmpty) continue;
    const path = field.name.split('.');
    const last = path.pop() ?? field.name;
    let target = body;
    for (const part of path) target = (target[part] ??= {}) as Record<string, unknown>;
    target[last] = value;
  }
  // The API judges what was typed; the type says what it is meant to be.
  return body as T;
}
