import { describe, expect, it } from 'vitest';
import { numberText, phoneText, plainText, visibleText, withoutCurrency, withoutPercent } from './input';

it.each([
  ['\u200eRB-7XK2M9Q\u200f', 'RB-7XK2M9Q'],
  ['\u2066٥١٨٨٩٥\u2069', '518895'],
  ['۵۱۸\u00a0۸۹۵', '518 895'],
  ['TRF\u201312\u2212٣', 'TRF-12-3'],
  [' أ ب ج  ١٢٣٤ ', 'أ ب ج 1234'],
])('%j is the text %j', (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

describe('numbers', () => {
  it.each([
    ['٤٥', '45'],
    ['۴۵', '45'],
    ['\u200f1,050\u200e', '1050'],
    ['١٬٠٥٠٫٢٥', '1050.25'],
    ['10,50', null],
    ['١٠٬٥٠', null],
    ['1.2.3', null],
    ['1e3', null],
    ['', null],
  ])('%j is read as %j', (text, number) => {
    expect(numberText(text)).toBe(number);
  });
});

it.each([
  ['691.00SAR', '691.00'],
  ['SAR 575.00', '575.00'],
  ['SAR\u00a0575.00', '575.00'],
  ['\u2066691.00\u00a0SAR\u2069', '691.00'],
  ['٦٩١٫٠٠ ر.س', '691\u066b00'],
  ['ر.س.\u200f ٦٩١', '691'],
  ['575 ريال', '575'],
  ['\u20c1 20', '20'],
  ['USD 5', 'USD 5'],
])('%j without its currency is %j', (text, amount) => {
  expect(withoutCurrency(text)).toBe(amount);
});

it('takes the sign from a percentage', () => {
  expect(withoutPercent('١٢٫٥ ٪')).toBe('12\u066b5');
  expect(withoutPercent('12.5%')).toBe('12.5');
  expect(withoutPercent('5‰')).toBe('5‰');
});

it.each([
  ['٠٥٠ ١٢٣ ٤٥٦٧', '0501234567'],
  ['\u202a+966 50-123\u20114567\u202c', '+966501234567'],
  ['(050) 123.4567', '0501234567'],
])('%j is the phone %j', (text, phone) => {
  expect(phoneText(text)).toBe(phone);
});

it('leaves out what cannot be seen, and nothing else', () => {
  expect(visibleText('\u202asara@rih\u200bla.test\u202c')).toBe('sara@rihla.test');
  expect(visibleText('sara ٣')).toBe('sara ٣');
});
