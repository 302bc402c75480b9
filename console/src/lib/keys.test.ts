import { expect, it } from 'vitest';
import { keyOf } from './keys';

it.each([
  ['j', 'KeyJ', false, 'j'],
  ['ت', 'KeyJ', false, 'j'],
  ['ن', 'KeyK', false, 'k'],
  ['ء', 'KeyX', false, 'x'],
  ['ل', 'KeyG', false, 'g'],
  ['ظ', 'Slash', false, '/'],
  ['؟', 'Slash', true, '?'],
  ['?', 'Slash', true, '?'],
  ['q', 'KeyA', false, 'q'],
  ['Enter', 'Enter', false, 'Enter'],
  ['ArrowDown', 'ArrowDown', false, 'ArrowDown'],
])('%s at %s (shift: %s) is %s', (key, code, shiftKey, want) => {
  expect(keyOf({ key, code, shiftKey })).toBe(want);
});
