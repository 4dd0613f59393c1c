/** `headrace exec`: a command in the thread's workspace, with its input, output and exit code. */
import { constants } from 'node:os';
import { HeadraceError } from '@headrace/client';
import type { Client, Code, CreateExecInput, Field } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { interrupted, usage } from '../core/fault.ts';
import { readText } from '../core/input.ts';
import { shellText } from '../core/shell-text.ts';
import { shown } from '../terminal/escape.ts';
import { threadPlace } from './place.ts';
import type { Place } from './place.ts';
import { afterChange } from './run-end.ts';

interface ExecOptions {
  timeout: number | undefined;
  'no-stdin': boolean;
}
type Exec = Awaited<ReturnType<Client['execs']['create']>>;
/** The last frame: the output was in the frames before. */
type Ended = Omit<Exec, 'stdout' | 'stderr'>;
type Frame =
  | { event: 'output'; data: { stream: 'stdout' | 'stderr'; text: string } }
  | { event: 'exit'; data: Ended }
  | {
      event: 'error';
      data: { status: number; code: Code; message: string; requestId?: string; fields?: Field[] };
    };

const LONGEST_SECONDS = 600;
const GOES_ON = 'The command goes on. The same line again shows its output and its end.';

export async function exec(
  cli: Cli,
  text: string | undefined,
  { words, options }: { words: readonly string[]; options: ExecOptions },
): Promise<number> {
  if (words.length === 0) throw usage('Which command? Give it after `--`.', 'headrace exec -- npm test');
  const seconds = options.timeout === undefined ? undefined : Math.ceil(options.timeout / 1000);
  if (seconds !== undefined && (seconds < 1 || seconds > LONGEST_SECONDS))
    throw usage(`--timeout is at most ${LONGEST_SECONDS / 60}m.`);
  const place = await threadPlace(cli, text);
  const stdin = options['no-stdin'] || cli.io.stdin.isTTY ? '' : await readText(cli, '-');
  const body = {
    command: shellText(words),
    ...(seconds !== undefined && { timeoutSeconds: seconds }),
    ...(stdin !== '' && { stdin }),
  };
  const interrupt = new AbortController();
  const release = cli.onInterrupt(() => interrupt.abort(interrupted(GOES_ON)));
  const ended = await (cli.globals.json ? whole : streamed)(cli, { place, body, signal: interrupt.signal })
    .catch((error: unknown) => {
      throw interrupt.signal.aborted ? interrupt.signal.reason : error;
    })
    .finally(release);
  if (cli.globals.json) {
    cli.show({ exec: ended }, () => '');
    return exitOf(ended);
  }
  if (ended.truncated) cli.say('… the service has not kept all of the output');
  if (ended.timedOut) cli.say('The command was ended: its time was over.');
  if (ended.sourceId !== null)
    cli.say(cli.paintTalk('dim', `${ended.sourceId}\n→ ${afterChange(place.threadId)}`));
  return exitOf(ended);
}

const exitOf = ({ exitCode, signal, timedOut }: Ended): number => {
  if (timedOut) return EXIT.timeout;
  if (signal !== null) return 128 + (constants.signals[signal as keyof typeof constants.signals] ?? 0);
  return exitCode ?? EXIT.failed;
};

interface Order {
  place: Place;
  body: CreateExecInput;
  signal: AbortSignal;
}

const whole = (cli: Cli, { place, body, signal }: Order): Promise<Ended> =>
  cli.write((client) => place.of(client).execs.create(body, { signal }), JSON.stringify(body));

/**
 * A lost connection ends nothing: the same write answers with the whole output once the command has ended, of which what
 * was printed already is left out.
 */
async function streamed(cli: Cli, { place, body, signal }: Order): Promise<Ended> {
  const printed = { stdout: 0, stderr: 0 };
  for (let isLost = false; ; isLost = true) {
    const headers: Record<string, string> = isLost ? {} : { accept: 'text/event-stream' };
    const answer = await cli.write(
      (client) => place.of(client).execs.create(body, { signal, headers }).asResponse(),
      JSON.stringify(body),
    );
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      const { exec: ended } = (await answer.json()) as { exec: Exec };
      for (const stream of ['stdout', 'stderr'] as const)
        print(cli, stream, ended[stream].slice(printed[stream]));
      return ended;
    }
    try {
      const ended = await readFrames(answer, (stream, text) => {
        printed[stream] += text.length;
        print(cli, stream, text);
      });
      if (ended) return ended;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HeadraceError) throw error;
    }
  }
}

function print(cli: Cli, name: 'stdout' | 'stderr', text: string): void {
  if (text === '') return;
  if (cli.globals.jsonl) return cli.printLine({ stream: name, text });
  const stream = cli.io[name];
  stream.write(stream.isTTY ? shown(text) : text);
}

/** Undefined if the connection ended before the command. Throws the HeadraceError of a last frame that is one. */
async function readFrames(
  answer: Response,
  onOutput: (stream: 'stdout' | 'stderr', text: string) => void,
): Promise<Ended | undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) {
      const frame = frameOf(part);
      if (frame?.event === 'output') onOutput(frame.data.stream, frame.data.text);
      if (frame?.event === 'exit') return frame.data;
      if (frame?.event === 'error') {
        const { status, code, message, requestId, fields } = frame.data;
        throw new HeadraceError(status, code, message, { fields, requestId: requestId ?? null });
      }
    }
  }
  return undefined;
}

/** As the service writes them: `event`, and one line of JSON. */
function frameOf(text: string): Frame | undefined {
  const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(text) ?? [];
  return event === undefined ? undefined : ({ event, data: JSON.parse(data!) } as Frame);
}
