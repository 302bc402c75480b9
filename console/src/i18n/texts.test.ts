import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import ar from './ar.json';
import en from './en.json';

/** Texts by their whole names, `list.empty`. */
function flat(texts: object, before = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]): [string, string][] =>
    typeof value === 'object' && value !== null
      ? flat(value, `${before}${name}.`)
      : [[`${before}${name}`, String(value)]],
  );
}

const holes = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name).sort();

const plural = /_(zero|one|two|few|many|other)$/;

/** Texts with all plural forms of a name as one. */
const names = (texts: [string, string][]) => [...new Set(texts.map(([name]) => name.replace(plural, '')))].sort();

it('both languages have the same texts, with the same things filled in', () => {
  const english = flat(en);
  const arabic = new Map(flat(ar));
  expect(names([...arabic])).toEqual(names(english));
  for (const [name, text] of english)
    if (!/_one$/.test(name)) expect(holes(arabic.get(name) ?? ''), name).toEqual(holes(text));
});

it.each([
  ['en', en],
  ['ar', ar],
] as const)('%s has all plural forms of what is counted', (language, texts) => {
  const all = flat(texts).map(([name]) => name);
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  for (const name of all.filter((one) => plural.test(one)).map((one) => one.replace(plural, '')))
    for (const form of forms) expect(all).toContain(`${name}_${form}`);
});

it('no text is empty', () => {
  for (const [name, text] of [...flat(en), ...flat(ar)]) expect(text.trim(), name).not.toBe('');
});

const helpTexts = new URL('../../../docs/console/', import.meta.url);

it.each(readdirSync(helpTexts).filter((name) => name.endsWith('.md')))('%s names what the pages show', (name) => {
  // "Mark as transferred ({{count}})" is on the page with a number.
  const shown = flat(name.endsWith('.ar.md') ? ar : en).map(([, text]) => text.replace(/ ?\(\{\{\w+\}\}\)$/, ''));
  const bold = [...readFileSync(new URL(name, helpTexts), 'utf8').matchAll(/\*\*([^*]+)\*\*/g)];
  for (const [, words] of bold) expect(shown).toContain(words?.replace(/\s+/g, ' '));
});
