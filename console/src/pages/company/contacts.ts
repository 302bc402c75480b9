import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';

export type Contact = Schemas['CompanyContactInput'];

/** The list with one person more, or with one in the place of another. */
export const withContact = (list: Contact[], at: number | null, next: Contact): Contact[] =>
  at === null ? [...list, next] : list.map((one, index) => (index === at ? next : one));

export const withoutContact = (list: Contact[], at: number): Contact[] => list.filter((_, index) => index !== at);

/** The API names a field by its person's place in the list; the form has the fields of that person alone. */
export function ofContact(error: unknown, at: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const start = `contact_persons.${at}.`;
  const fields = Object.fromEntries(
    Object.entries(error.fields).map(([name, messages]) => [
      name.startsWith(start) ? name.slice(start.length) : name,
      messages,
    ]),
  );
  return new ApiError(error.status, error.code, error.message, fields, error.requestId);
}
