/** A service whose model `bench/writer` is an agent that writes at a pace that its message says, without a model. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeAgent } from '../../../packages/runner/src/tasks/fake-agent.fixture.ts';
import type { Setup } from './benchmark.ts';

export const WRITER_MODEL = 'bench/writer';

/** What it writes: `from` characters of a text at once and, after a pause, the rest up to `to`, in equal pieces. */
interface Writing {
  /** Repeated without end; null: each piece is the time in ms, and a space. */
  text: string | null;
  from: number;
  to: number;
  pauseMs: number;
  pieces: number;
  everyMs: number;
}

export const writingMessage = (writing: Writing): string => JSON.stringify(writing);

const { command } = fakeAgent(`on['session/prompt'] = async ({ prompt }) => {
  const said = prompt.map((one) => one.text).join('');
  // Earlier messages may be in front of it.
  const { text: unit, from, to, pauseMs, pieces, everyMs } = JSON.parse(said.slice(said.lastIndexOf('{"text":')));
  const whole = unit === null ? '' : unit.repeat(Math.ceil(to / unit.length));
  const end = (i) => from + Math.round(((to - from) * i) / pieces);
  if (from > 0) text(whole.slice(0, from));
  const begun = performance.now() + pauseMs;
  for (let i = 0; i < pieces; i++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + i * everyMs - performance.now())));
    text(unit === null ? Date.now() + ' ' : whole.slice(end(i), end(i + 1)));
  }
  return { stopReason: 'end_turn' };
};`);

/** The variables of a service that has it. */
export function writerEnv(setup: Setup): Record<string, string> {
  const file = join(mkdtempSync(join(setup.scratch, 'writer-')), 'config.json');
  writeFileSync(
    file,
    JSON.stringify({
      providers: { bench: { baseUrl: 'http://127.0.0.1:9/v1', wires: ['anthropic'], key: 'none' } },
      prices: { 'bench/*': { inputMicros: 1, outputMicros: 1 } },
      agents: { writer: { command, wire: 'anthropic', models: [WRITER_MODEL] } },
    }),
  );
  return { HEADRACE_CONFIG_FILE: file };
}
