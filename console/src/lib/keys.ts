/** Keys that are letters and signs on a Latin keyboard, by their place. */
const signs: Record<string, [string, string]> = { Slash: ['/', '?'] };

/**
 * What a key stands for in a shortcut: what it types, or on a keyboard of other letters, as the Arabic one, what is at its place on a Latin one.
 */
export function keyOf({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  if (key.length !== 1 || key <= '~') return key;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (letter) return shiftKey ? letter : letter.toLowerCase();
  return signs[code]?.[shiftKey ? 1 : 0] ?? key;
}
