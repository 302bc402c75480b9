import { describe, expect, it } from 'vitest';
import { amountOf, amountText, rateText, sumOf } from './money';

describe('amounts', () => {
  it('are written with two decimals and Latin digits in both languages', () => {
    expect(amountText(1150, 'en')).toBe('1,150.00');
    expect(amountText(-0.5, 'ar')).toBe('-0.50');
  });

  it('are added without drift', () => {
    expect(sumOf([0.1, 0.2])).toBe(0.3);
    expect(sumOf(Array.from({ length: 10_000 }, () => 0.01))).toBe(100);
  });

  it.each([
    ['1150', 1150],
    [' 1,150.5 ', 1150.5],
    ['١٬١٥٠٫٢٥', 1150.25],
    ['0.01', 0.01],
    ['12,345,678.90', 12345678.9],
    ['691.00SAR', 691],
    ['SAR 575.00', 575],
    ['\u200e575.00\u200f', 575],
    ['٦٩١٫٠٠ ر.س', 691],
    ['۱۲٫۵', 12.5],
    ['575,50', null],
    ['10,50', null],
    ['99,5', null],
    ['1,1500', null],
    [',5', null],
    ['0', null],
    ['1.005', null],
    ['-1', null],
    ['1e3', null],
    ['', null],
  ])('%j is read as %j', (text, amount) => {
    expect(amountOf(text)).toBe(amount);
  });
});

it('writes rates as percentages', () => {
  expect(rateText(0.125, 'en')).toBe('12.5%');
});
