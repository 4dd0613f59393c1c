import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import type { Probe, Result } from './probe.ts';

/** A running inside.py. */
export interface Harness {
  stdin: Writable;
  stdout: Readable;
  /** Ends it with everything in it. */
  stop(): Promise<void>;
}

/** Where probes run: in a sandbox, or without one. */
export interface Place {
  /** Starts inside.py with these probes. */
  start(probes: (Probe & { victim?: number })[]): Promise<Harness>;
  secret: string;
  /** Checks from outside whether a probe succeeded; called while its place still exists. */
  isDone(probe: Probe & { victim?: number }): Promise<boolean>;
}

const KEPT = 200;

/** Runs the probes; when one ends the place itself, the others continue in a new one. */
export async function runBatch(place: Place, probes: Probe[]): Promise<Result[]> {
  let victims = 0;
  let left: (Probe & { victim?: number })[] = probes.map((probe) =>
    probe.outside && 'victim' in probe.outside ? { ...probe, victim: ++victims } : probe,
  );
  const results: Result[] = [];
  while (left.length > 0) {
    const said = await once(place, left, async (probe, text) => {
      const found =
        text.includes(place.secret) || (probe.outside ? await place.isDone(probe) : /^ESCAPED/m.test(text));
      results.push({
        name: probe.name,
        theme: probe.theme,
        succeeded: found,
        said: text.trim().slice(-KEPT),
      });
    });
    left = left.slice(said);
  }
  return results;
}

/** Starts the harness once; returns how many probes it dealt with, at least one. */
async function once(
  place: Place,
  probes: (Probe & { victim?: number })[],
  judge: (probe: Probe & { victim?: number }, said: string) => Promise<void>,
): Promise<number> {
  const harness = await place.start(probes);
  const said: string[] = [];
  let isDone = false;
  try {
    for await (const line of createInterface({ input: harness.stdout })) {
      if (!line.startsWith('{"')) continue;
      const told = JSON.parse(line) as { name: string; said: string } | { done: true };
      if ('done' in told) {
        isDone = true;
        break;
      }
      if (told.name === probes[said.length]!.name) said.push(told.said);
    }
    if (!isDone) said.push('its sandbox ended');
    for (const [i, text] of said.entries()) await judge(probes[i]!, text);
    harness.stdin.end();
  } finally {
    await harness.stop();
  }
  return said.length;
}
