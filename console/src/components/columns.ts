import type { ReactNode } from 'react';

/** A column of a list: what it shows, and the same as text for CSV. */
export interface Column<T> {
  id: string;
  header: string;
  cell: (row: T) => ReactNode;
  text: (row: T) => string;
  /** In rem; the rest of the width is given to all columns alike. */
  width: number;
  align?: 'end';
  /** The field that `sort` knows it by. */
  sort?: string;
  /** Not shown until it is chosen. */
  hidden?: boolean;
}

/** What a row is on a telephone, by the ids of columns: the rest of it is behind a tap. */
export interface CardOf {
  /** The first of these that the row has something in. */
  title: string[];
  amount?: string;
  badge?: string;
  /** One line; what the row has nothing in is left out. */
  meta: string[];
}

/** A card with the columns themselves, as far as there are any: some roles have fewer. */
export interface CardColumns<T> {
  title: Column<T>[];
  amount: Column<T> | undefined;
  badge: Column<T> | undefined;
  meta: Column<T>[];
}

export function cardColumns<T>(columns: Column<T>[], { title, amount, badge, meta }: CardOf): CardColumns<T> {
  const one = (id: string | undefined) => columns.find((column) => column.id === id);
  const several = (ids: string[]) => ids.flatMap((id) => one(id) ?? []);
  return { title: several(title), amount: one(amount), badge: one(badge), meta: several(meta) };
}

/** What stands above the others: the first column that the row has something in. */
export const titleOf = <T>({ title }: CardColumns<T>, row: T): Column<T> | undefined =>
  title.find(({ text }) => text(row) !== '') ?? title[0];

/** The line below it: columns that the row has something in, and that are not its title. */
export const metaOf = <T>(card: CardColumns<T>, row: T): Column<T>[] =>
  card.meta.filter((column) => column.text(row) !== '' && column !== titleOf(card, row));
