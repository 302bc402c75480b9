import type { ReactNode } from 'react';
import type { Column } from '@/components/columns';
import { CopyId } from '@/components/CopyId';
import { Money } from '@/components/Money';
import { Day, When } from '@/components/When';
import { valueAt, type Field, type FieldName } from '@/forms/fields';
import type { Language } from '@/i18n';
import { rateText } from '@/lib/money';

/** What rows of all resources have. */
export interface Row {
  id: string;
  provider_id: string;
  currency?: string;
}

/** A field of a resource, once for all that shows it: its form, its column and its fact, each as its kind is shown. */
export interface ResourceField<T, N extends string> extends Field<N> {
  /**
   * Without it the list does not have the field. What stands here besides the width replaces what follows from the kind; an `id` that is
   * not the name is the one under which browsers keep whether the column is shown.
   */
  column?: Partial<Column<T>> & Pick<Column<T>, 'width'>;
  /** False for what the title or another fact says; a function for what is not shown by the kind. */
  fact?: false | ((row: T) => ReactNode);
}

/** A column or a fact of a resource, or both, that is no field of its form. */
export type ShownOnly<T> =
  | { column: Column<T>; label?: never; fact?: never }
  | { label: string; fact: (row: T) => ReactNode; column?: Column<T> };

type Entry<T, N extends string> = ResourceField<T, N> | ShownOnly<T>;

/** The names that the bodies of a new one and of a change have, and the answer as well: a form begins with what it says. */
export type NameIn<T, B, P> = FieldName<B> & FieldName<P> & FieldName<T>;

/** The fields of a resource with these rows and bodies, in the order in which form, list and facts have them. */
export type ResourceFields<T, B, P> = readonly Entry<T, NameIn<T, B, P>>[];

/** Those that the form has. */
export const formOf = <T, N extends string>(fields: readonly Entry<T, N>[]): ResourceField<T, N>[] =>
  fields.filter((field) => 'name' in field);

/** A value in words, as files and plain text have it. */
function wordsOf({ kind, choices = [] }: Field, value: unknown, language: Language): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join('، ');
  if (kind === 'money') return Number(value).toFixed(2);
  if (kind === 'rate') return rateText(Number(value), language);
  const text = typeof value === 'number' ? String(value) : (value as string);
  return kind === 'choice' ? (choices.find((one) => one.value === text)?.label ?? text) : text;
}

/** A value as its kind is shown; null where the row has none. */
function shown(field: Field, row: Row, language: Language): ReactNode {
  const { kind, choices = [] } = field;
  const value = valueAt(row, field.name);
  if (value === null || value === undefined) return null;
  const text = wordsOf(field, value, language);
  if (kind === 'money') return <Money amount={Number(value)} currency={row.currency ?? 'SAR'} />;
  if (kind === 'moment') return <When at={text} />;
  if (kind === 'day') return <Day day={text} />;
  if (kind === 'phone' || kind === 'email') return <CopyId id={text} />;
  // Another resource that can no longer be chosen is shown by its id.
  if (kind === 'choice' && !choices.some((one) => one.value === value)) return <CopyId id={text} />;
  return <bdi>{text}</bdi>;
}

const atTheEnd = new Set<Field['kind']>(['number', 'money', 'rate']);

export const columnsOf = <T extends Row, N extends string>(
  fields: readonly Entry<T, N>[],
  language: Language,
): Column<T>[] =>
  fields.flatMap((field): Column<T>[] => {
    if (!field.column) return [];
    if (!('name' in field)) return [field.column];
    return [
      {
        id: field.name,
        header: field.label,
        cell: (row) => shown(field, row, language) ?? '–',
        text: (row) => wordsOf(field, valueAt(row, field.name), language),
        ...(atTheEnd.has(field.kind) && { align: 'end' as const }),
        ...field.column,
      },
    ];
  });

export const factsOf = <T extends Row, N extends string>(
  fields: readonly Entry<T, N>[],
  row: T,
  language: Language,
): [string, ReactNode][] =>
  fields.flatMap((field): [string, ReactNode][] => {
    if (field.fact) return [[field.label, field.fact(row)]];
    return 'name' in field && field.fact !== false ? [[field.label, shown(field, row, language)]] : [];
  });
