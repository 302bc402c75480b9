// Every value of an enum is UPPER_SNAKE, unless the enum consists of values of one documented exception.

const upperSnake = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;

export default function enumValues(schema, { except }) {
  if (!Array.isArray(schema.enum)) return [];

  const values = schema.enum.filter((value) => value !== null);
  if (except.some((known) => values.every((value) => known.includes(value)))) return [];

  return values
    .filter((value) => typeof value !== 'string' || !upperSnake.test(value))
    .map((value) => ({ message: `${value} is not UPPER_SNAKE` }));
}
