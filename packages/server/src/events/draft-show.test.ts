import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EventRow } from '../db/schema.ts';
import type { SseConnection } from '../http/sse.ts';
import type { Draft } from './draft.ts';
import { DraftShow } from './draft-show.ts';
import type { DraftListener } from './drafts.ts';
import { parseFrames } from './events.fixture.ts';

let sent: string;
let isCongested: boolean;
let listener: DraftListener;
let show: DraftShow;

beforeEach(() => {
  vi.useFakeTimers();
  [sent, isCongested] = ['', false];
  const connection = {
    sendLive: (frames: string) => {
      sent += frames;
      return true;
    },
    isCongested: () => isCongested,
  } as SseConnection;
  show = new DraftShow(connection);
  show.start(
    {
      drafts: {
        subscribe: (_, given) => {
          listener = given;
          return () => {};
        },
        stop: () => {},
      },
    },
    'thr',
  );
});
afterEach(() => {
  show.stop();
  vi.useRealTimers();
});

/** The draft of the run of that message: `m1` of `r1`. */
const change = (messageId: string, revision: number) =>
  listener.show({
    threadId: 'thr',
    messageId,
    runId: messageId.replace('m', 'r'),
    revision,
    content: `text ${revision}`,
  } satisfies Draft);
const ended = (runId: string) => listener.end(runId);
const persisted = (messageId: string) => {
  sent += show.supersede({ type: 'message.persisted', data: { id: messageId } } as unknown as EventRow) ?? '';
};
/** What was sent: `draft <message> <revision>`, `draft.removed <message>`. */
const seen = () =>
  parseFrames(sent).frames.map((f) =>
    [f.event, f.data.messageId, f.data.revision].filter((part) => part !== undefined).join(' '),
  );

describe('a draft', () => {
  test('is shown once per revision, rising', () => {
    for (const revision of [1, 2, 2, 1, 4]) change('m1', revision);
    expect(seen()).toEqual(['draft m1 1', 'draft m1 2', 'draft m1 4']);
  });

  test('read before its message passed, but told after it, is not shown', () => {
    persisted('m1');
    change('m1', 3);
    expect(seen()).toEqual([]);
  });

  test('of a reader that lags waits; the newest is sent when the reader has caught up, none when its message came first', () => {
    isCongested = true;
    change('m1', 1);
    change('m1', 2);
    isCongested = false;
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 2']);
    isCongested = true;
    change('m1', 3);
    persisted('m1');
    isCongested = false;
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 2', 'draft.removed m1']);
  });
});

describe('draft.removed', () => {
  test('follows the message, whichever of the two hints comes first, once', () => {
    change('m1', 1);
    ended('r1');
    persisted('m1');
    change('m2', 1);
    persisted('m2');
    ended('r2');
    vi.advanceTimersByTime(10_000);
    expect(seen()).toEqual(['draft m1 1', 'draft.removed m1', 'draft m2 1', 'draft.removed m2']);
  });

  test('comes by itself when no message follows', () => {
    change('m1', 1);
    ended('r1');
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 1']);
    vi.advanceTimersByTime(2_000);
    expect(seen()).toEqual(['draft m1 1', 'draft.removed m1']);
  });

  test('is not sent where no draft was shown', () => {
    ended('r1');
    persisted('m1');
    vi.advanceTimersByTime(10_000);
    expect(seen()).toEqual([]);
  });
});
