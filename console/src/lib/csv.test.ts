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
