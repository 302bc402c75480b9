import { numberText, phoneText, plainText, withoutPercent } from '@/lib/input';
import { amountOf } from '@/lib/money';
import { localOf, momentOf } from '@/lib/dates';
import type { Choice } from '@/components/Filters';

export type Values = Record<string, string>;

type NamesIn<B> = {
  [K in keyof B & string]-?: NonNullable<B[K]> extends readonly unknown[]
    ? K
    : NonNullable<B[K]> extends object
      ? `${K}.${FieldName<NonNullable<B[K]>>}`
      : K;
}[keyof B & string];

/** The names of the fields in a body of the API; `driver.name` is the name in the driver. */
export type FieldName<B> = Extract<NamesIn<B>, string>;

/** A field of a form, by the name that the API knows it by. */
export interface Field<N extends string = string> {
  name: N;
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
    | 'radios'
    | 'checks'
    | 'words'
    | 'day'
    | 'moment';
  required?: boolean;
  choices?: Choice[];
  hint?: string;
  /** Shown, and sent, only then. */
  when?: (values: Values) => boolean;
}

/** The fields of a form that makes this body: a name that the body does not have is none of them. */
export type FieldsOf<B> = Field<FieldName<B>>[];

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
  if (kind === 'words' || kind === 'choices' || kind === 'checks') return words(text);
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
export function bodyOf<B>(fields: readonly Field<FieldName<B>>[], values: Values, omitEmpty = false): B {
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
  return body as B;
}

/** What an answer has by a field's name. */
export const valueAt = (row: object, name: string): unknown =>
  name.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown> | null)?.[part], row);

/** What a field holds of a value of the API: the way back from `valueOf`. */
function textOf({ kind = 'text' }: Field, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join(kind === 'choices' ? ',' : ', ');
  if (kind === 'money') return Number(value).toFixed(2);
  if (kind === 'rate') return String(Math.round(Number(value) * 10_000) / 100);
  const text = typeof value === 'number' ? String(value) : (value as string);
  return kind === 'moment' ? localOf(text) : text;
}

/** What the fields of a form hold at first, when it changes this row. */
export const valuesOf = <T extends object>(fields: readonly Field<FieldName<T>>[], row: T): Values =>
  Object.fromEntries(fields.map((field) => [field.name, textOf(field, valueAt(row, field.name))]));
