/** Telephones: rows are cards there, the page scrolls instead of the table, and long forms are the whole screen. */
export const narrow = '(max-width: 48em)';
