/** Rules that a trigger's data must match to create an execution. */
import Type from 'typebox';
import type { FilterRule } from '../db/schema.ts';
import type { Field } from '../http/errors.ts';
import { Body, Enum, Text } from '../http/schemas.ts';
import { readPath, valueAt } from './template.ts';
import type { TemplateValues } from './template.ts';

const MAX_RULES = 20;
const MAX_VALUE = 10_000;
/** The reader of the log reads the filters of all automations that wait for events. */
const MAX_FILTER = 20_000;

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
          'Any JSON. `in` takes an array, and one of its items must equal the value. `contains` finds a part of a string or an item of an array. `exists` takes no value.',
      }),
    ),
  }),
  { maxItems: MAX_RULES, description: 'All must match.' },
);

/** What the schema does not see: the paths, and whether an operator has its value. */
export function filterFaults(at: string, filter: readonly FilterRule[]): Field[] {
  if (JSON.stringify(filter).length > MAX_FILTER)
    return [{ path: at, message: `must have at most ${MAX_FILTER} characters of JSON` }];
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

/** Comparison is strict: 5 is not "5". A missing value equals nothing, so `ne` matches. */
export function matchesFilter(filter: readonly FilterRule[], values: TemplateValues): boolean {
  const same = comparison();
  return filter.every(({ path, op, value }) => {
    const actual = valueAt(values, readPath(path) ?? []);
    switch (op) {
      case 'eq':
        return same(actual, value);
      case 'ne':
        return !same(actual, value);
      case 'in':
        return Array.isArray(value) && value.some((item) => same(actual, item));
      case 'contains':
        if (Array.isArray(actual)) return actual.some((item) => same(item, value));
        return typeof actual === 'string' && typeof value === 'string' && actual.includes(value);
      case 'exists':
        return actual !== undefined;
    }
  });
}

/**
 * Whether two values are the same JSON. Each object's keys are counted once: a payload may have 85,000 small objects, and
 * a rule an object of a thousand keys, which would be counted for each of them.
 */
function comparison(): (a: unknown, b: unknown) => boolean {
  const counts = new Map<object, number>();
  const countOf = (value: object): number => {
    const count = counts.get(value) ?? Object.keys(value).length;
    counts.set(value, count);
    return count;
  };
  return function same(a, b): boolean {
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
    if (Array.isArray(a) || Array.isArray(b))
      return (
        Array.isArray(a) &&
        Array.isArray(b) &&
        a.length === b.length &&
        a.every((item, n) => same(item, b[n]))
      );
    return (
      countOf(a) === countOf(b) &&
      Object.entries(a).every(
        ([key, member]) => Object.hasOwn(b, key) && same(member, (b as Record<string, unknown>)[key]),
      )
    );
  };
}
