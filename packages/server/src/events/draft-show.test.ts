import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DraftRow, EventRow } from '../db/schema.ts';
import type { SseConnection } from '../http/sse.ts';
import { DraftShow } from './draft-show.ts';
import { parseFrames } from './events.fixture.ts';

let sent: string;
let isCongested: boolean;
let change: (draft: DraftRow) => void;
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
        subscribe: (_, listener) => {
          change = listener;
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

const draft = (messageId: string, revision: number, removed = false): DraftRow => ({
  thread_id: 'thr',
  org_id: 'org',
  message_id: messageId,
  run_id: 'run',
  revision,
  content: `text ${revision}`,
  removed,
  updated_at: new Date(),
});
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
    for (const revision of [1, 2, 2, 1, 4]) change(draft('m1', revision));
    expect(seen()).toEqual(['draft m1 1', 'draft m1 2', 'draft m1 4']);
  });

  test('read before its message passed, but told after it, is not shown', () => {
    persisted('m1');
    change(draft('m1', 3));
    expect(seen()).toEqual([]);
  });

  test('of a reader that lags waits; the newest is sent when the reader has caught up, none when its message came first', () => {
    isCongested = true;
    change(draft('m1', 1));
    change(draft('m1', 2));
    isCongested = false;
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 2']);
    isCongested = true;
    change(draft('m1', 3));
    persisted('m1');
    isCongested = false;
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 2', 'draft.removed m1']);
  });
});

describe('draft.removed', () => {
  test('follows the message, whichever of the two hints comes first, once', () => {
    change(draft('m1', 1));
    change(draft('m1', 1, true));
    persisted('m1');
    change(draft('m2', 1));
    persisted('m2');
    change(draft('m2', 1, true));
    vi.advanceTimersByTime(10_000);
    expect(seen()).toEqual(['draft m1 1', 'draft.removed m1', 'draft m2 1', 'draft.removed m2']);
  });

  test('comes by itself when no message follows', () => {
    change(draft('m1', 1));
    change(draft('m1', 1, true));
    vi.advanceTimersByTime(1_000);
    expect(seen()).toEqual(['draft m1 1']);
    vi.advanceTimersByTime(2_000);
    expect(seen()).toEqual(['draft m1 1', 'draft.removed m1']);
  });

  test('is not sent where no draft was shown', () => {
    change(draft('m1', 1, true));
    persisted('m1');
    vi.advanceTimersByTime(10_000);
    expect(seen()).toEqual([]);
  });
});
