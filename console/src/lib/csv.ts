const signs = '-=+@＝＋－＠';
const ahead = new RegExp(`^\\s*[${signs}]|^[\\t\\r]`);
const behind = new RegExp(`;([\\s"]*[${signs}])`, 'g');

/**
 * A cell that no spreadsheet runs as a formula, as in the exports of the API: what begins like one, behind spaces or not, gets an
 * apostrophe in front. Where the decimal sign is a comma a semicolon ends a cell, so that there is an apostrophe behind one, too, and
 * no line or tab within a cell.
 */
function cell(value: string): string {
  if (/^-?\d+(\.\d+)?$/.test(value)) return value;
  const safe = (ahead.test(value) ? "'" : '') + value.replace(/[\r\n\t]/g, ' ').replace(behind, ";'$1");
  return /[",;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows as CSV, in UTF-8 with a byte order mark, as the exports of the API are. */
export const csvOf = (rows: string[][]) => `\uFEFF${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/** Hands a text to the browser as a file. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
