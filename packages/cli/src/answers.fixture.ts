/** For tests: whether a document of `--json` is the answer of the operation that its command names. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';

interface Answer {
  $ref?: string;
  content?: Record<string, { schema?: unknown }>;
}
interface Operation {
  operationId: string;
  responses: Record<string, Answer>;
}

const api = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Answer> };
};
const JSON_TYPE = 'application/json';
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(api, 'api', undefined, false);
const validators = new Map<string, ValidateFunction[]>();

/** What differs; empty if nothing does. Throws for an operation that does not exist. */
export function differences(operationId: string, document: unknown): string[] {
  const all = validators.get(operationId) ?? validatorsOf(operationId);
  validators.set(operationId, all);
  if (all.some((validate) => validate(document))) return [];
  return all.flatMap(({ errors }) =>
    (errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`),
  );
}

/** Of each answer with JSON that an operation has after a success. */
function validatorsOf(operationId: string): ValidateFunction[] {
  const found = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId === operationId)
      .flatMap(([method, { responses }]) =>
        Object.entries(responses)
          .filter(([status]) => status.startsWith('2'))
          .map(
            ([status, { $ref }]) =>
              $ref?.slice('#/'.length).split('/') ?? ['paths', path, method, 'responses', status],
          )
          .filter((place) => answerAt(place).content?.[JSON_TYPE]?.schema),
      ),
  );
  if (found.length === 0) throw new RangeError(`No operation ${operationId} answers with JSON.`);
  return found.map((place) =>
    ajv.compile({ $ref: `api#/${[...place, 'content', JSON_TYPE, 'schema'].map(pointer).join('/')}` }),
  );
}

const answerAt = (place: readonly string[]) =>
  place.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], api) as Answer;

const pointer = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
