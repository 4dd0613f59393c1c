/** Times in queries. */
import Type from 'typebox';
import { invalid } from './errors.ts';

const TIME = String.raw`^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+\-]\d\d:\d\d))?$`;
export const Moment = (description: string) =>
  Type.String({ pattern: TIME, examples: ['2026-01-01T00:00:00.000Z'], description });

/** A time of the query in ms; `fallback` if it is omitted. The pattern alone accepts 2026-13-01. */
export function momentOf(text: string | undefined, fallback: number, path: string): number {
  const ms = text === undefined ? fallback : Date.parse(text);
  if (Number.isNaN(ms)) throw invalid({ path, message: 'is no time' });
  return ms;
}
