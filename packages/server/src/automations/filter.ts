/** What has to hold of a trigger's data for an execution to be made. */
import { isDeepStrictEqual } from 'node:util';
import Type from 'typebox';
import type { FilterRule } from '../db/schema.ts';
import type { Field } from '../http/errors.ts';
import { Body, Enum, Text } from '../http/schemas.ts';
import { readPath, valueAt } from './template.ts';
import type { TemplateValues } from './template.ts';

const MAX_RULES = 20;
const MAX_VALUE = 10_000;

export const Filter = Type.Array(
  Body({
    path: Text('payload.issue.state', {
      minLength: 1,
      maxLength: 500,
      description: 'As in a prompt: `root.key.0.key`.',
    }),
    op: Enum(['eq', 'ne', 'in', 'contains', 'exists']),
    value: Type.Optional(
      Type.Unknown({
        examples: ['open'],
        description:
          'Any JSON; for `in` an array, one of whose items the value equals. `contains` is for a text and a part of it, or an array and an item. `exists` takes none.',
      }),
    ),
  }),
  { maxItems: MAX_RULES, description: 'All have to hold.' },
);

/** What the schema does not see: the paths, and whether an operator has its value. */
export function filterFaults(at: string, filter: readonly FilterRule[]): Field[] {
  return filter.flatMap(({ path, op, value }, n) => {
    const faults: Field[] = [];
    if (!readPath(path))
      faults.push({
        path: `${at}/${n}/path`,
        message: 'must be root.key with root payload, event, automation or execution',
      });
    const message = valueFault(op, value);
    if (message !== undefined) faults.push({ path: `${at}/${n}/value`, message });
    return faults;
  });
}

function valueFault(op: FilterRule['op'], value: unknown): string | undefined {
  if (op === 'exists') return value === undefined ? undefined : 'is not taken by exists';
  if (value === undefined) return 'is required';
  if (op === 'in' && !Array.isArray(value)) return 'must be an array';
  return JSON.stringify(value).length > MAX_VALUE ? `must have at most ${MAX_VALUE} characters` : undefined;
}

/** Types count: 5 is not "5". What is missing equals nothing, so that `ne` holds. */
export const matchesFilter = (filter: readonly FilterRule[], values: TemplateValues): boolean =>
  filter.every(({ path, op, value }) => holds(op, valueAt(values, readPath(path) ?? []), value));

function holds(op: FilterRule['op'], actual: unknown, value: unknown): boolean {
  switch (op) {
    case 'eq':
      return isDeepStrictEqual(actual, value);
    case 'ne':
      return !isDeepStrictEqual(actual, value);
    case 'in':
      return Array.isArray(value) && value.some((item) => isDeepStrictEqual(actual, item));
    case 'contains':
      if (Array.isArray(actual)) return actual.some((item) => isDeepStrictEqual(item, value));
      return typeof actual === 'string' && typeof value === 'string' && actual.includes(value);
    case 'exists':
      return actual !== undefined;
  }
}
