import type { TFunction } from 'i18next';
import { expect, it } from 'vitest';
import en from '@/i18n/en.json';
import { accountText } from './accounts';

const t = ((key: string, { defaultValue }: { defaultValue: string }) => {
  const [part = '', name = ''] = key.split('.');
  const texts = (en as unknown as Record<string, Record<string, string>>)[part];
  return texts?.[name] ?? defaultValue;
}) as unknown as TFunction;

it.each([
  ['provider:019ab0c1-0000-7aaa-8bbb-000000000001:payable', 'Provider balance'],
  ['platform:commission', 'Commission'],
  ['customer:refunds', 'Refunds to customers'],
  ['gateway:gateway_a', 'Balance at Gateway A'],
  ['platform:something', 'platform:something'],
])('%s is %s', (account, words) => {
  expect(accountText(account, t)).toBe(words);
});
