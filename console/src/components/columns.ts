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
