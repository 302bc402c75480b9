// /api/v1/{scope}/{collection}/{id}/{action or collection}: what an id follows is plural, and all is lower-kebab.

const scopes = ['admin', 'provider', 'my'];
const plural = /(s|staff|media)$/;
// What is not a collection: actions on a session, the caller, and what there is one of in its scope.
const singular = [/^\/api\/v1\/auth\/[a-z-]+(\/[a-z-]+)?$/, /^\/api\/v1\/me(\/|$)/, /^\/api\/v1\/(admin|provider)\/(balance|dashboard)(\/events)?$/];

export default function pluralPaths(path, { prescribed }) {
  if (!path.startsWith('/api/v1/') || new RegExp(prescribed).test(path) || singular.some((expression) => expression.test(path))) return [];

  const segments = path.slice('/api/v1/'.length).split('/');
  const problems = [];

  segments.forEach((segment, i) => {
    if (segment.startsWith('{')) {
      const collection = segments[i - 1];
      if (collection === undefined || !plural.test(collection)) problems.push({ message: `${path}: ${collection} has ids and is not plural` });
      return;
    }

    if (!/^[a-z]+(-[a-z]+)*$/.test(segment)) problems.push({ message: `${path}: ${segment} is not lower-kebab` });
  });

  const collection = segments[scopes.includes(segments[0]) ? 1 : 0];
  if (!plural.test(collection ?? '')) problems.push({ message: `${path}: ${collection} is not plural` });

  return problems;
}
