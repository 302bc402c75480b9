import { readFileSync } from 'node:fs';
import type en from '../src/i18n/en.json';
import type { Look } from './look';

/** Plural forms are of one name. */
type Counted<K extends string> = K extends `${infer Name}_${'one' | 'other'}` ? Name : K;

type Keys<T> = {
  [K in keyof T & string]: T[K] extends string ? Counted<K> : `${K}.${Keys<T[K]>}`;
}[keyof T & string];

/** Name of a text of the console, such as `refund.start`. */
export type Text = Keys<typeof en>;

const texts = Object.fromEntries(
  (['ar', 'en'] as const).map((language) => [
    language,
    JSON.parse(readFileSync(new URL(`../src/i18n/${language}.json`, import.meta.url), 'utf8')) as object,
  ]),
);

/** The texts of a language, as the console shows them. */
export const wordsOf =
  (language: Look['language']) =>
  (name: Text, values: Record<string, string | number> = {}): string => {
    const at = (path: string) =>
      path.split('.').reduce<unknown>((found, key) => (found as Record<string, unknown>)[key], texts[language]);
    const text = at(name) ?? at(`${name}_${new Intl.PluralRules(language).select(Number(values['count']))}`);
    if (typeof text !== 'string') throw new Error(`there is no text ${name}`);
    return text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => String(values[key]));
  };
