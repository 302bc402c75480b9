import { expect, it } from 'vitest';
import { csvOf } from './csv';

it('writes what a spreadsheet shows and does not run', () => {
  expect(
    csvOf([
      ['a', 'b,c', 'd"e'],
      ['=1+1', '-5.00', '-x'],
    ]),
  ).toBe('\uFEFFa,"b,c","d""e"\r\n\'=1+1,-5.00,\'-x\r\n');
});

it.each([
  [' =1+1', "' =1+1"],
  ['＝1+1', "'＝1+1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['\t=1', "' =1"],
  ['x;=HYPERLINK("a")', '"x;\'=HYPERLINK(""a"")"'],
  ["'=1", "''=1"],
  [";'=a;=b", "\";''=a;'=b\""],
  ['\u3000=1', "'\u3000=1"],
  ['x;"=1', '"x;\'""=1"'],
  ['two\nlines', 'two lines'],
  ['+966500000001', "'+966500000001"],
  ['شركة; نقل', '"شركة; نقل"'],
])('writes %j as %j', (text, written) => {
  expect(csvOf([[text]])).toBe(`\uFEFF${written}\r\n`);
});
