/**
 * Many null runners in one process, a child of the benchmark. It is told `pause` and `go on`, and asked what was played;
 * it starts with what its argument says.
 */
import { REGISTER_MS } from '../../packages/runner/src/registration.ts';
import { TlsCredentials } from '../../packages/runner/src/tls/index.ts';
import { NullRunner } from './lib/null-runner.ts';
import type { NullRunnerOptions } from './lib/null-runner.ts';

const { count, ...options } = JSON.parse(process.argv[2]!) as Omit<NullRunnerOptions, 'name'> & {
  count: number;
};
const tls = new TlsCredentials(options.tls);
const runners = Array.from(
  { length: count },
  (_, n) => new NullRunner({ ...options, name: `node-${n}` }, tls),
);
for (const runner of runners) await runner.listen();

/** Their first reports need a handshake each, all by one machine. */
const FIRST_MS = 30_000;

/** They report spread over their pace, as those of many machines do. */
function start(withinMs: number): void {
  for (const runner of runners) setTimeout(() => runner.start(), Math.random() * withinMs);
}

process.on('message', (told) => {
  if (told === 'pause') for (const runner of runners) runner.pause();
  if (told === 'go on') start(REGISTER_MS);
  if (told === 'played') process.send!(runners.map((runner) => runner.played()));
});
process.on('disconnect', () => process.exit(0));
start(FIRST_MS);
process.send!('ready');
