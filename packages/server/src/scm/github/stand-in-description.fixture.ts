/** GitHub's OpenAPI description of what Headrace asks for (scripts/cut-github-openapi.mjs), as checks of requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';

interface Described {
  isForApps: boolean;
  parameters: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: object }[];
  body?: Record<string, unknown>;
}

interface Operation {
  name: string;
  pattern: RegExp;
  names: string[];
  described: Described;
  check: { path: ValidateFunction; query: ValidateFunction; body: ValidateFunction | null };
}

const ajv = new Ajv({ strict: false, coerceTypes: true, allErrors: true, validateFormats: false });
/** A body's types are its own. */
const exact = new Ajv({ strict: false, allErrors: true, validateFormats: false });

function schemaOf(described: Described, place: 'path' | 'query') {
  const parameters = described.parameters.filter((one) => one.in === place);
  return ajv.compile({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  });
}

function operationOf([name, described]: [string, Described]): Operation {
  const [method, path] = name.split(' ') as [string, string];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one!);
  const { body } = described;
  return {
    name,
    pattern: new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '([^/]+)')}$`),
    names,
    described,
    check: {
      path: schemaOf(described, 'path'),
      query: schemaOf(described, 'query'),
      // GitHub ignores what it does not know; a test should not.
      body: body ? exact.compile(body.properties ? { ...body, additionalProperties: false } : body) : null,
    },
  };
}

let operations: Operation[] | null = null;
const everyOperation = () =>
  (operations ??= Object.entries(
    (
      JSON.parse(readFileSync(join(import.meta.dirname, 'openapi.fixture.json'), 'utf8')) as {
        operations: Record<string, Described>;
      }
    ).operations,
  ).map(operationOf));

interface Recognized {
  operation: string;
  params: Record<string, string>;
  query: Record<string, unknown>;
  isForApps: boolean;
  /** What GitHub's description has against the request. */
  faults: string[];
}

/** Null for what GitHub does not know. */
export function recognize(method: string, url: URL, body: unknown): Recognized | null {
  for (const { name, pattern, names, described, check } of everyOperation()) {
    const match = pattern.exec(`${method} ${url.pathname}`);
    if (!match) continue;
    const params = Object.fromEntries(names.map((one, i) => [one, decodeURIComponent(match[i + 1]!)]));
    const query = Object.fromEntries(url.searchParams);
    const faults: string[] = [];
    const hold = (validate: ValidateFunction, value: unknown, what: string) => {
      if (!validate(value))
        faults.push(...validate.errors!.map((one) => `${what}${one.instancePath} ${one.message}`));
    };
    hold(check.path, { ...params }, 'path');
    hold(check.query, query, 'query');
    if (check.body && (body !== undefined || method !== 'POST')) hold(check.body, body ?? {}, 'body');
    else if (!check.body && body !== undefined) faults.push('it takes no body');
    return { operation: name, params, query, isForApps: described.isForApps, faults };
  }
  return null;
}
