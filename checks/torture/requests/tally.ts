/** What came of it: counts, and each kind of fault once, with its first example and how often it came. */
import type { Answer, Request } from './wire.ts';

export interface Tally {
  count(name: string): void;
  counts: Map<string, number>;
  /** `what` names the kind; `example` is called for the first of a kind. */
  fault(what: string, example: () => string): void;
  failures(): string[];
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  const faults = new Map<string, { example: string; times: number }>();
  return {
    counts,
    count: (name) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    fault(what, example) {
      const known = faults.get(what);
      if (known) known.times++;
      else faults.set(what, { example: example(), times: 1 });
    },
    failures: () =>
      [...faults]
        .toSorted(([, a], [, b]) => b.times - a.times)
        .map(([what, { example, times }]) => `${what} (${times}×), first: ${example}`),
  };
}

const SHOWN = 600;

/** A request and its answer as they went over the wire, shortened; keys and cookies left out. */
export function shown({ method, target, headers, body, raw }: Request, answer: Answer): string {
  const told = raw
    ? visible(
        Buffer.from(
          raw.toString('latin1').replaceAll(/^(x-api-key|authorization|cookie): .*\r\n/gim, ''),
          'latin1',
        ),
      )
    : `${method} ${target.slice(0, 300)} ${headers
        .filter(([name]) => !SECRET.has(name.toLowerCase()))
        .map((pair) => pair.join(': ').slice(0, 100))
        .join(', ')} ${body ? visible(body) : ''}`;
  return `${told} → ${answer.status} ${visible(answer.body)}`;
}
const SECRET = new Set(['x-api-key', 'authorization', 'cookie']);
const visible = (bytes: Buffer) => JSON.stringify(bytes.subarray(0, SHOWN).toString()).slice(1, -1);
