/** Runs one command line. Returns the exit code; everything else happens through `io`. */
import { createHash } from 'node:crypto';
import { COMMANDS } from './commands.ts';
import { targetOf } from './config/target.ts';
import type { Command } from './core/command.ts';
import { EXIT } from './core/exit.ts';
import type { Exit } from './core/exit.ts';
import { HELP_WIDTH, helpOf, overview } from './core/help.ts';
import type { Io } from './core/io.ts';
import { parse } from './core/parse.ts';
import type { Parsed } from './core/parse.ts';
import { VERSION } from './core/version.ts';
import { hasColor, paintFor } from './terminal/style.ts';

/** Longer lines are hard to read. */
const WIDEST_HELP = 100;

export async function headrace(argv: readonly string[], io: Io): Promise<number> {
  try {
    if (argv[0] === '__complete')
      return await (await import('./any/candidates.ts')).printCandidates(argv.slice(1), io);
    const parsed = parse(argv, COMMANDS);
    const { command, words, globals } = parsed;
    if (globals.version) {
      io.stdout.write(
        globals.json ? `${JSON.stringify({ ok: true, version: VERSION }, null, 2)}\n` : `${VERSION}\n`,
      );
      return EXIT.done;
    }
    if (command && !globals.help) return await run(command, parsed, io);
    const look = {
      paint: paintFor(hasColor(io, io.stdout, globals['no-color'])),
      width: Math.min(io.stdout.columns ?? HELP_WIDTH, WIDEST_HELP),
    };
    io.stdout.write(`${command ? helpOf(command, look) : overview(COMMANDS, words[0], look)}\n`);
    return EXIT.done;
  } catch (error) {
    return await failed(error, argv, io);
  }
}

async function run(command: Command, { globals, input }: Parsed, io: Io): Promise<number> {
  // Loads the client; help and completion do without it.
  const [{ Cli }, { beginWrite }] = await Promise.all([import('./core/cli.ts'), import('./core/writes.ts')]);
  const begin = () => beginWrite(io, identityOf(command, { globals, input }, io), globals.fresh);
  const cli = new Cli(io, globals, command.writes ? begin : undefined);
  try {
    if (command.needsSession) cli.requireSession();
    const exit = (await command.run(cli, input)) ?? EXIT.done;
    cli.endWrite();
    return exit;
  } catch (error) {
    const cause: unknown = cli.signal.aborted ? cli.signal.reason : error;
    const { isAnswer } = await import('./core/report.ts');
    if (isAnswer(cause)) cli.endWrite();
    throw cause;
  } finally {
    cli.close();
  }
}

/** Everything that makes it the same command as one that was interrupted. */
function identityOf(
  { name }: Command,
  { globals, input }: Pick<Parsed, 'globals' | 'input'>,
  io: Io,
): unknown[] {
  const { url, credential, app } = targetOf(io, globals);
  const { args, options, rest } = input;
  const own = Object.entries(options).filter(([option]) => !(option in globals));
  const secret = createHash('sha256').update(JSON.stringify(credential)).digest('hex');
  return [url, secret, app, io.cwd, name, args, own, rest];
}

async function failed(error: unknown, argv: readonly string[], io: Io): Promise<Exit> {
  const { reportOf } = await import('./core/report.ts');
  const { exit, message, hint, requestId, fields, document } = reportOf(error);
  const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined);
  if (options.includes('--json') || options.includes('--jsonl')) {
    io.stdout.write(`${JSON.stringify(document, null, options.includes('--json') ? 2 : 0)}\n`);
    return exit;
  }
  const paint = paintFor(hasColor(io, io.stderr, options.includes('--no-color')));
  const { shown } = await import('./terminal/escape.ts');
  // Whatever answered may have sent no text.
  const text = (value: unknown) => shown(String(value));
  const lines = [
    `${paint('red', 'headrace:')} ${shown(message)}`,
    ...fields.map(({ path, message: fault }) => `  ${text(path)} ${text(fault)}`),
    ...(hint === undefined ? [] : [`  ${paint('dim', '→')} ${shown(hint)}`]),
    ...(requestId === null ? [] : [paint('dim', `  request ${text(requestId)}`)]),
  ];
  io.stderr.write(`${lines.join('\n')}\n`);
  return exit;
}
