import { Backgrounds } from './background.ts';
import { HeadAndTail } from './clip.ts';
import { numberOf, textOf } from './schema.ts';
import type { Child } from './processes.ts';
import type { Tool, ToolResult, Workplace } from './tool.ts';

const TIMEOUT_S = 120,
  LONGEST_S = 600;
/** Bytes that are kept of the beginning and of the end. */
const KEPT_BYTES = 15_000;
const DRAIN_ROUNDS = 64;

/** `bash`, and the two tools that watch its background commands. */
export function bashTools(backgrounds: Backgrounds): Tool[] {
  const bash: Tool = {
    name: 'bash',
    description:
      'Runs a command by the shell in the workspace, with empty stdin. It is killed after ' +
      `timeout_seconds (${TIMEOUT_S} when left out). With background it goes on beside you, such as a ` +
      'server: the answer is its id at once, for bash_output and bash_kill. There is no network.',
    schema: {
      type: 'object',
      required: ['command'],
      additionalProperties: false,
      properties: {
        command: { type: 'string', description: 'The command.' },
        timeout_seconds: {
          type: 'integer',
          minimum: 1,
          maximum: LONGEST_S,
          description: 'Seconds until it is killed; not for background.',
        },
        background: { type: 'boolean', description: 'Whether it goes on in the background.' },
      },
    },
    kind: 'execute',
    hasEffects: true,
    title: (input) => textOf(input, 'command').trim().split('\n')[0] || 'bash',
    run(input, workplace) {
      const command = textOf(input, 'command');
      if (command.trim() === '') throw new Error('The command is empty.');
      if (input['background'] === true) return backgrounds.start(command, workplace);
      return run(command, numberOf(input, 'timeout_seconds', TIMEOUT_S), workplace);
    },
  };
  return [bash, ...backgrounds.tools()];
}

/**
 * Resolves when the shell exits: processes that it started with `&` may hold the pipe for as long as they
 * like.
 */
async function run(command: string, seconds: number, { root, processes }: Workplace): Promise<ToolResult> {
  const child = processes.start(command, root);
  const output = new HeadAndTail(KEPT_BYTES);
  let parts = 0,
    isLate = false;
  child.stdout.on('data', (part: Buffer) => {
    parts++;
    output.add(part);
  });
  const timer = setTimeout(() => {
    isLate = true;
    processes.kill(child);
  }, seconds * 1000);
  const end = await exitOf(child).finally(() => clearTimeout(timer));
  await drained(() => parts);
  child.stdout.destroy();
  const text = output.text();
  const how = isLate
    ? `[killed after ${seconds} s, with what it started]`
    : end === 'exit code 0'
      ? ''
      : `[${end}]`;
  return {
    text: [text, how].filter((part) => part !== '').join(text.endsWith('\n') ? '' : '\n') || '[no output]',
    isError: how !== '',
    isCut: output.isCut,
  };
}

function exitOf(child: Child): Promise<string> {
  return new Promise((resolve, reject) => {
    child
      .once('error', reject)
      .once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`));
  });
}

/**
 * The shell's own output is in the pipe when it exits: two turns of the event loop without data mean that it
 * has been read.
 */
async function drained(count: () => number): Promise<void> {
  for (let round = 0, seen = -1; round < DRAIN_ROUNDS && seen !== count(); round++) {
    seen = count();
    await new Promise((resolve) => {
      setImmediate(() => setImmediate(resolve));
    });
  }
}
