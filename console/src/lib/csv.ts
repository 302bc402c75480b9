// As in internal/store/db/copy.go, so that pages and exports write the same.
const spaces = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const signs = '[-=+@＝＋－＠]';
const ahead = new RegExp(`^'*[${spaces}]*${signs}|^[\\t\\r]`);
const behind = new RegExp(`;('*[${spaces}"]*${signs})`, 'g');

/**
 * A cell that no spreadsheet runs as a formula, as in the exports of the API: what begins like one, behind spaces or not, gets an
 * apostrophe in front. Where the decimal sign is a comma a semicolon ends a cell, so that there is an apostrophe behind one, too, and
 * no line or tab within a cell. What has an apostrophe there already gets one more, so that it can be told which was put there.
 */
function cell(value: string): string {
  if (/^-?\d+(\.\d+)?$/.test(value)) return value;
  const safe = (ahead.test(value) ? "'" : '') + value.replace(behind, ";'$1").replace(/[\r\n\t]/g, ' ');
  return /[",;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows as CSV, in UTF-8 with a byte order mark, as the exports of the API are. */
export const csvOf = (rows: string[][]) => `\uFEFF${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/** Hands a text to the browser as a file. */
export function download(name: string, text: string, type = 'text/csv'): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
