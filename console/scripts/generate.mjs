// Makes src/gen from api/openapi.yaml: the types of requests and answers, which roles may call which operation, and the values of enums.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';

const at = (path) => new URL(`../${path}`, import.meta.url);

const document = parse(await readFile(at('../api/openapi.yaml'), 'utf8'), { merge: true, maxAliasCount: -1 });

const roles = {};
for (const path of Object.values(document.paths)) {
  for (const operation of Object.values(path)) {
    if (operation?.operationId) roles[operation.operationId] = operation['x-roles'];
  }
}

// One constant each: a page has those alone that it names.
const enums = Object.entries(document.components.schemas)
  .filter(([, { enum: values }]) => values)
  .map(([name, { enum: values }]) => {
    const named = values.filter((value) => value !== null);
    return `export const ${name} = ${JSON.stringify(named)} as const;\n`;
  });

const marked = '// Made by scripts/generate.mjs from api/openapi.yaml.\n';
const types = await openapiTS(document, { defaultNonNullable: false, emptyObjectsUnknown: true });

await mkdir(at('src/gen'), { recursive: true });
await writeFile(at('src/gen/schema.ts'), marked + astToString(types));
await writeFile(
  at('src/gen/access.ts'),
  `${marked}\n/** The roles of every operation (x-roles). */\nexport const access = ${JSON.stringify(roles, null, 2)} as const;\n`,
);
await writeFile(
  at('src/gen/enums.ts'),
  `${marked}\n// The values of the document's enums, in its order, by the names of their schemas.\n${enums.join('')}`,
);
