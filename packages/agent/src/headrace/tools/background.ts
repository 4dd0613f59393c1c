import { numberOf, textOf } from './schema.ts';
import type { Child } from './processes.ts';
import type { Tool, ToolResult, Workplace } from './tool.ts';

interface Background {
  id: string;
  child: Child;
  parts: Buffer[];
  size: number;
  /** Bytes that were dropped unread. */
  lost: number;
  end: string | undefined;
  changed: () => void;
}

const LIVE = 16,
  REMEMBERED = 64,
  UNREAD_BYTES = 30_000,
  LONGEST_WAIT_S = 60;

/**
 * Commands that run in the background of the conversation. They end with the sandbox, at the end of the turn.
 */
export class Backgrounds {
  readonly #all = new Map<string, Background>();
  #started = 0;

  start(command: string, { root, processes }: Workplace): ToolResult {
    if ([...this.#all.values()].filter((one) => one.end === undefined).length >= LIVE)
      throw new Error(`${LIVE} commands run in the background already: end one with bash_kill.`);
    const one: Background = {
      id: `bg-${++this.#started}`,
      child: processes.start(command, root),
      parts: [],
      size: 0,
      lost: 0,
      end: undefined,
      changed: () => undefined,
    };
    one.child.stdout.on('data', (part: Buffer) => {
      keep(one, part);
      one.changed();
    });
    one.child.once('error', (error) => {
      one.end = error.message;
      one.changed();
    });
    one.child.once('exit', (code, signal) => {
      one.end = signal === null ? `exit code ${code}` : `ended by ${signal}`;
      one.changed();
    });
    this.#all.set(one.id, one);
    for (const [id, old] of this.#all)
      if (this.#all.size > REMEMBERED && old.end !== undefined) this.#all.delete(id);
    return { text: `Started in the background as ${one.id}.` };
  }

  tools(): Tool[] {
    const id = { type: 'string', description: 'The id that bash gave, e.g. bg-1.' } as const;
    return [
      {
        name: 'bash_output',
        description:
          'What a command in the background has printed since the last time, and whether it still runs.',
        schema: {
          type: 'object',
          required: ['id'],
          additionalProperties: false,
          properties: {
            id,
            wait_seconds: {
              type: 'integer',
              minimum: 0,
              maximum: LONGEST_WAIT_S,
              description: 'Seconds to wait at most until it prints something or ends; 0 when left out.',
            },
          },
        },
        kind: 'read',
        hasEffects: false,
        title: (input) => `Output of ${textOf(input, 'id')}`,
        run: async (input) => {
          const one = this.#find(textOf(input, 'id'));
          await waitFor(one, numberOf(input, 'wait_seconds', 0) * 1000);
          return unread(one);
        },
      },
      {
        name: 'bash_kill',
        description: 'Ends a command in the background, with all that it started.',
        schema: { type: 'object', required: ['id'], additionalProperties: false, properties: { id } },
        kind: 'execute',
        hasEffects: false,
        title: (input) => `End ${textOf(input, 'id')}`,
        run: (input, { processes }) => {
          const one = this.#find(textOf(input, 'id'));
          if (one.end !== undefined) return { text: `${one.id} has ended already: ${one.end}.` };
          processes.kill(one.child);
          return { text: `Ended ${one.id}.` };
        },
      },
    ];
  }

  #find(id: string): Background {
    const one = this.#all.get(id);
    if (!one)
      throw new Error(
        `There is no ${id} in this turn. Known: ${[...this.#all.keys()].join(', ') || 'none'}.`,
      );
    return one;
  }
}

function keep(one: Background, part: Buffer): void {
  one.parts.push(part);
  one.size += part.length;
  if (one.size <= 2 * UNREAD_BYTES) return;
  const all = Buffer.concat(one.parts);
  one.lost += all.length - UNREAD_BYTES;
  one.parts = [all.subarray(-UNREAD_BYTES)];
  one.size = UNREAD_BYTES;
}

async function waitFor(one: Background, ms: number): Promise<void> {
  if (ms === 0 || one.size > 0 || one.end !== undefined) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    one.changed = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  one.changed = () => undefined;
}

function unread(one: Background): ToolResult {
  const all = Buffer.concat(one.parts);
  const text = all
    .subarray(-UNREAD_BYTES)
    .toString()
    .replace(/^\uFFFD{1,3}/, '');
  const lost = one.lost + Math.max(0, all.length - UNREAD_BYTES);
  Object.assign(one, { parts: [], size: 0, lost: 0 });
  const state = one.end === undefined ? '[it runs]' : `[${one.end}]`;
  return {
    text:
      `${lost > 0 ? `[${lost} bytes before were forgotten]\n` : ''}${text}` +
      `${text === '' || text.endsWith('\n') ? '' : '\n'}${state}`,
    isCut: lost > 0,
  };
}
