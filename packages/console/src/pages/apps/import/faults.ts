/** The faults of a refused bundle, by the paths that they are about. */
import type { Field } from '@headrace/client';

export interface PathFault {
  /** Null for a fault of the whole. */
  path: string | null;
  message: string;
}

const FILE = /^\/files\/(\d+)\//;
/** The service's messages begin with the path in quotes. */
const NAMED = /^"([^"]*)" (.+)$/s;

/** `paths`: of the files that were sent, in their order; null if only the service has read them. */
export const faultsByPath = (fields: readonly Field[], paths: readonly string[] | null): PathFault[] =>
  fields.map(({ path: pointer, message }) => {
    const index = FILE.exec(pointer)?.[1];
    const named = NAMED.exec(message);
    if (index === undefined) return { path: null, message };
    const path = paths?.[Number(index)] ?? named?.[1] ?? `file ${Number(index) + 1}`;
    return { path, message: named?.[2] ?? message };
  });
