import { expect, it } from 'vitest';
import { batchesOf } from './batches';

it('cuts a list', () => {
  expect(batchesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(batchesOf([], 2)).toEqual([]);
});
