/**
 * Writers, and what they were answered: each acknowledged write names the events that have to be in the log
 * just once.
 */
import { PLATFORM } from '../../harness/http.ts';
import type { Caller } from '../../harness/http.ts';
import type { Random } from '../../harness/random.ts';
import { deliver } from '../lib/delivery.ts';
import type { Delivered, Weather, Write } from '../lib/delivery.ts';
import type { LoggedEvent } from '../lib/log-table.ts';
import type { World } from './world.ts';

/** An acknowledged write. */
export interface Acknowledged {
  writer: number;
  /** Marks (see `markOf`) of the events that its transaction published. */
  marks: string[];
  sentAt: number;
  answeredAt: number;
}

/** What distinguishes an event from all others by its writer's answer; null where nothing does. */
export function markOf({ type, data, runId }: Pick<LoggedEvent, 'type' | 'data' | 'runId'>): string | null {
  if (type === 'platform.app.updated') return `${type} ${String(data.externalId)}`;
  if (type.startsWith('run.')) return `${type} ${String(runId)}`;
  if (type === 'platform.app.created' || type === 'message.persisted' || type === 'operation.updated')
    return `${type} ${String(data.id)}`;
  return null;
}

interface Choice {
  write: Omit<Write, 'key'>;
  marks(answer: Delivered): string[];
  /** Takes what was made into the world. */
  take?(body: Made): void;
}

interface Made {
  app: { id: string };
  thread: { id: string };
  message: { id: string };
  run: { id: string };
}

const SCRIPT = 'Write a file.\n\n```file notes.md\nwritten\n```\n';

/**
 * What a writer does next: mostly small writes, so that many transactions overlap. `name` is used for
 * nothing else.
 */
function choose({ world, runsInThousand }: Writing, random: Random, name: string): Choice {
  if (random.below(1000) < runsInThousand) return newThread(world, name);
  const dice = random.below(100);
  if (dice < 78) {
    return {
      write: { method: 'PATCH', path: random.pick(world.apps), body: { externalId: name } },
      marks: () => [`platform.app.updated ${name}`],
    };
  }
  if (dice < 83) {
    return {
      write: { method: 'POST', path: `${PLATFORM}/apps`, body: { name } },
      marks: (answer) => [`platform.app.created ${made(answer).app.id}`],
      take: ({ app }) => {
        world.apps.push(`${PLATFORM}/apps/${app.id}`);
      },
    };
  }
  if (dice < 96) {
    return {
      write: { method: 'PATCH', path: random.pick(world.projects), body: { name } },
      marks: ({ headers }) => [`operation.updated ${String(headers['x-operation-id'])}`],
    };
  }
  return {
    write: { method: 'PATCH', path: random.pick(world.threads), body: { title: name } },
    marks: () => [],
  };
}

/** Workers go on with it: a workspace, a run, its result. */
function newThread(world: World, name: string): Choice {
  return {
    write: {
      method: 'POST',
      path: `${world.home}/threads`,
      body: { title: name, message: { content: SCRIPT } },
    },
    marks(answer) {
      const { message, run } = made(answer);
      return [
        `message.persisted ${message.id}`,
        `run.queued ${run.id}`,
        `run.running ${run.id}`,
        `run.completed ${run.id}`,
      ];
    },
    take: ({ thread }) => {
      world.threads.push(`${world.home}/threads/${thread.id}`);
    },
  };
}

const made = ({ text }: Delivered) => JSON.parse(text) as Made;

export interface Writing {
  callers: readonly Caller[];
  world: World;
  /** Of so many writes in a thousand workers have a run to do. */
  runsInThousand: number;
  weather: Weather;
  signal: AbortSignal;
  /** Awaited before each write. */
  step(): Promise<void>;
  /** Whether enough was written. */
  isEnough(): boolean;
  acknowledged: Acknowledged[];
  failures: string[];
}

/** One writer, one write at a time, until there is enough. */
export async function writer(number: number, random: Random, writing: Writing): Promise<void> {
  const { callers, weather, signal, acknowledged, failures } = writing;
  for (let n = 0; !writing.isEnough(); n++) {
    await writing.step();
    const name = `w${number}-${n}`;
    const { write, marks, take } = choose(writing, random, name);
    const answer = await deliver(
      callers,
      { ...write, key: `torture-log-${name}` },
      { random, weather, signal },
    );
    if (answer.status >= 300 || !answer.headers['x-operation-id']) {
      failures.push(
        `${write.method} ${write.path}: ${answer.status} ${answer.text.slice(0, 300)} (operation ${String(answer.headers['x-operation-id'])})`,
      );
      continue;
    }
    acknowledged.push({
      writer: number,
      marks: marks(answer),
      sentAt: answer.sentAt,
      answeredAt: answer.answeredAt,
    });
    take?.(made(answer));
  }
}
