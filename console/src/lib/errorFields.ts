/** The field that an error of the API is about: `features.0` is one of `features`. Null when it is none of these. */
export function fieldOf(name: string, fields: readonly string[]): string | null {
  for (let known = name; known !== ''; known = known.slice(0, Math.max(known.lastIndexOf('.'), 0)))
    if (fields.includes(known)) return known;
  return null;
}

/** Messages by the fields that they are about. */
export function byField(errors: Record<string, string[]>, fields: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [name, messages] of Object.entries(errors)) {
    const field = fieldOf(name, fields);
    if (field !== null) found[field] = [...new Set([...(found[field] ?? []), ...messages])];
  }
  return found;
}
