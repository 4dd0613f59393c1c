/** `headrace __complete KIND PREFIX WORDS...`: for the completion scripts. Quick, and silent when it fails. */
import { PassThrough } from 'node:stream';
import { parseArgs } from 'node:util';
import { readContexts } from '../config/contexts.ts';
import { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import type { Io } from '../core/io.ts';
import type { Globals } from '../core/options.ts';
import { oneLine } from '../terminal/escape.ts';

/** Someone waits for it with the Tab key pressed. */
const LIMIT_MS = 1_000;
const OFFERED = 100;

interface Named {
  id: string;
  label: string | null;
}

/** Prints a value and what it is, with a tab between, a line each. After `~`, names are the values. */
export async function printCandidates(argv: readonly string[], io: Io): Promise<Exit> {
  const [kind = '', prefix = '', ...words] = argv;
  // Its time is over as if Ctrl-C were pressed, whatever it waits for.
  const onInterrupt = (listener: () => void) => {
    const timer = setTimeout(listener, LIMIT_MS);
    return () => clearTimeout(timer);
  };
  const cli = new Cli({ ...io, stderr: new PassThrough(), onInterrupt }, globalsIn(words));
  try {
    const found = await namedOf(cli, kind);
    const isName = prefix.startsWith('~');
    for (const { id, label } of found) {
      const name = oneLine(label ?? '');
      if (!isName) cli.print(`${id}\t${name}`);
      else if (name !== '') cli.print(`~${name}\t${id}`);
    }
  } catch {
    // There is nothing to offer.
  } finally {
    cli.close();
  }
  return EXIT.done;
}

/** Those that say where to look. */
function globalsIn(words: readonly string[]): Globals {
  const { values } = parseArgs({
    args: [...words],
    options: { app: { type: 'string', short: 'a' }, url: { type: 'string' }, context: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const { app, url, context } = values;
  return { app: text(app), url: text(url), context: text(context) } as Globals;
}

async function namedOf(cli: Cli, kind: string): Promise<Named[]> {
  const options = { limit: OFFERED, signal: cli.signal };
  if (kind === 'context')
    return Object.entries(readContexts(cli.io).contexts).map(([id, { url }]) => ({ id, label: url }));
  if (kind === 'app') {
    const { items } = await cli.client.apps.list(options);
    return items.map(({ id, name }) => ({ id, label: name }));
  }
  if (kind !== 'thread') return [];
  const { items } = await cli.client.threads.list(await cli.appId(), options);
  return items.map(({ id, title }) => ({ id, label: title }));
}
