/**
 * What people type and paste, in the one form that is sent. The API does the same with texts (docs/rules.md, input.words); numbers have
 * to be read here.
 */

/** Characters that cannot be seen: marks, embeddings, overrides and isolates of direction, spaces and joiners without width, controls. */
// eslint-disable-next-line no-control-regex -- each is named by its number
const invisible = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

const westernDigit = (digit: string) => {
  const code = digit.charCodeAt(0);
  return String(code >= 0xff10 ? code - 0xff10 : code >= 0x6f0 ? code - 0x6f0 : code - 0x660);
};

/** Text without what cannot be seen. A browser refuses an email address with it before it is sent. */
export const visibleText = (text: string) => text.replace(invisible, '');

/** Text with ASCII digits, hyphens for dashes, one plain space between its parts, and nothing that cannot be seen. */
export const plainText = (text: string) =>
  text
    .replace(invisible, '')
    .replace(/[٠-٩۰-۹０-９]/g, westernDigit)
    .replace(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();

/** The riyal as it stands beside amounts that are copied: `SAR`, `SR`, `ر.س`, `ريال` and the riyal's sign. */
const currency =
  /^(?:SAR|SR|ر\.? ?س\.?|ريال(?: سعودي)?|\u20c1|\ufdfc) ?| ?(?:SAR|SR|ر\.? ?س\.?|ريال(?: سعودي)?|\u20c1|\ufdfc)$/gi;

/**
 * A number as people write it, with ASCII digits, a point before decimals and no separators; null when it is none, or may be two. A comma,
 * also the Arabic one, has to stand before three digits: `10,50` may have been meant as 10.50.
 */
export function numberText(text: string): string | null {
  const written = plainText(text).replaceAll('\u066c', ',').replaceAll('\u066b', '.');
  if (!/^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(written)) return null;
  return written.replaceAll(',', '');
}

/** An amount without the currency beside it. */
export const withoutCurrency = (text: string) => plainText(text).replace(currency, '').trim();

/** A percentage without its sign. */
export const withoutPercent = (text: string) => plainText(text).replace(/ ?[%٪]$|^[%٪] ?/, '');

/** A phone number without what people write between its digits. */
export const phoneText = (text: string) =>
  plainText(text)
    .replace(/[\s().-]/g, '')
    .replace('\uff0b', '+');
