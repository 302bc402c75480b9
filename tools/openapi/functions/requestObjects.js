// What a client may send has bounds: no unknown fields, no endless strings, no endless lists.

export default function requestObjects(schema, _options, context) {
  const problems = [];
  visit(schema, context.path, problems);
  return problems;
}

function visit(schema, path, problems) {
  if (schema.type === 'object' || schema.properties) {
    if (schema.additionalProperties !== false) problems.push({ message: 'the object takes unknown fields', path });

    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      visit(property, [...path, 'properties', name], problems);
    }
  }

  if (schema.type === 'array') {
    if (schema.maxItems === undefined) problems.push({ message: `the list ${path.at(-1)} has no maxItems`, path });
    if (schema.items) visit(schema.items, [...path, 'items'], problems);
  }

  if (schema.type === 'string' && !schema.enum && !schema.maxLength && !['uuid', 'date', 'date-time', 'binary'].includes(schema.format)) {
    problems.push({ message: `the string ${path.at(-1)} has no maxLength`, path });
  }

  for (const word of ['allOf', 'oneOf', 'anyOf']) {
    (schema[word] ?? []).forEach((part, i) => visit(part, [...path, word, String(i)], problems));
  }
}
