import type { Schemas } from '@/api/client';
import { ApiError } from '@/api/errors';
import { bodyOf, type Field, type Values } from '@/forms/fields';

type Correction = Schemas['BookingCorrection'];

const ofPassenger = 'passenger:';

/** The name of the field for a passenger's name. */
export const passengerField = (id: string) => `${ofPassenger}${id}`;

/** What was changed in the form, and nothing else: what the request leaves out stays. */
export function correctionOf(changed: readonly Field[], values: Values): Correction {
  const contact = changed.filter(({ name }) => name.startsWith('contact.'));
  const passengers = changed.flatMap(({ name }) =>
    name.startsWith(ofPassenger) ? [{ id: name.slice(ofPassenger.length), name: (values[name] ?? '').trim() }] : [],
  );
  // An empty field is sent as such, for the API to refuse.
  const body = bodyOf<{ contact?: Record<string, string | null> }>(contact as never, values);
  const texts = Object.entries(body.contact ?? {}).map(([name, value]) => [name, value ?? '']);
  return {
    ...(contact.length > 0 && { contact: Object.fromEntries(texts) as NonNullable<Correction['contact']> }),
    ...(passengers.length > 0 && { passengers }),
  };
}

/** The API names passengers by their place in the request; the form has a field for each. */
export function byField(error: unknown, { passengers = [] }: Correction): unknown {
  if (!(error instanceof ApiError)) return error;
  const fields = Object.entries(error.fields).map(([name, messages]): [string, string[]] => {
    const sent = passengers[Number(/^passengers\.(\d+)\./.exec(name)?.[1] ?? NaN)];
    return [sent ? passengerField(sent.id) : name, messages];
  });
  return new ApiError(error.status, error.code, error.message, Object.fromEntries(fields), error.requestId);
}
