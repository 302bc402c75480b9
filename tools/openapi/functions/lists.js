// Pages of collections and the parameters that move through them go together.

export default function lists(operation, { whole = [] } = {}) {
  const schema = operation.responses?.['200']?.content?.['application/json']?.schema?.properties;
  const query = new Map((operation.parameters ?? []).filter((p) => p.in === 'query').map((p) => [p.name, p]));
  const isPage = schema?.meta !== undefined;

  if (!isPage) {
    if (schema?.data?.type === 'array' && !whole.includes(operation.operationId)) return [{ message: 'it answers a list without meta' }];
    return ['page', 'per_page'].filter((name) => query.has(name)).map((name) => ({ message: `it takes ${name} and answers no page` }));
  }

  const problems = ['page', 'per_page', 'sort']
    .filter((name) => !query.has(name))
    .map((name) => ({ message: `a page without the parameter ${name}` }));

  if (schema.data?.type !== 'array') problems.push({ message: 'meta without a list in data' });

  const sort = query.get('sort')?.schema;
  if (sort && (!sort.pattern || !sort.default)) problems.push({ message: 'sort has no whitelist or no default' });
  if (sort?.pattern && sort.default && !new RegExp(sort.pattern).test(sort.default)) {
    problems.push({ message: 'the default of sort is not in its whitelist' });
  }

  return problems;
}
