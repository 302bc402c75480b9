// Which answers an operation has to document follows from who may call it and from what it takes.

const bodyErrors = ['400', '413', '422'];

export default function accessAndAnswers(operation, _options, context) {
  const problems = [];
  const say = (message) => problems.push({ message });

  const method = String(context.path[2]);
  const roles = operation['x-roles'] ?? [];
  const isPublic = roles[0] === 'public';
  const security = operation.security;
  const isSigned = security?.some((scheme) => 'webhookSignature' in scheme) ?? false;

  if (isPublic && security === undefined) say('public, but the document’s security applies; it needs security: []');
  if (!isPublic && security !== undefined) say('not public, but its own security replaces the document’s');
  if ((operation['x-limit'] === 'webhook') !== isSigned) say('x-limit webhook and a signature belong together');

  const answers = operation.responses ?? {};
  const needs = (status, why) => {
    if (!(status in answers)) say(`${status} is not documented: ${why}`);
  };
  const refuses = (status, why) => {
    if (status in answers) say(`${status} is documented: ${why}`);
  };

  needs('500', 'anything can fail');

  if (!isPublic || isSigned) needs('401', 'it needs a token or a signature');
  // Another site may not use a session by cookie, and a role may have to have a second factor first.
  const byCookie = (operation.parameters ?? []).some((p) => p.in === 'header' && p.name === 'X-Session');
  if (!isPublic) needs('403', 'some roles may not call it, and no other site');
  if (byCookie) needs('403', 'another site may not call it');
  if (isPublic && !byCookie) refuses('403', 'anybody may call it');

  if (operation['x-limit'] === 'none') refuses('429', 'it has no limit');
  else needs('429', 'it has a limit');

  if (operation['x-admission']) needs('503', 'there may be no place for it');

  if (operation.requestBody) {
    for (const status of bodyErrors) needs(status, 'it takes a body');
    // Webhooks are verified as bytes, whatever they are said to be.
    if (!operation['x-raw-body']) needs('415', 'it takes a body');
  } else {
    refuses('415', 'it takes no body');
  }

  const parameters = operation.parameters ?? [];
  if (parameters.some((p) => p.in === 'query')) needs('422', 'it takes query parameters');
  if (parameters.some((p) => p.in === 'path')) needs('404', 'it takes an id');

  // A GET may do nothing but redirect.
  if (method === 'get' && '303' in answers) return problems;

  const successes = Object.keys(answers).filter((status) => status.startsWith('2'));
  if (successes.length === 0) say('no success is documented');
  if (method === 'delete' && (successes.length !== 1 || successes[0] !== '204')) say('DELETE answers 204');
  if (['get', 'put', 'patch'].includes(method) && (successes.length !== 1 || successes[0] !== '200')) {
    say(`${method.toUpperCase()} answers 200`);
  }

  return problems;
}
