import type { Draft } from '@headrace/client';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { LiveProvider, useDraft, useLiveStatus } from './react.tsx';
import type { Live } from './live.ts';

const THREAD = { appId: 'prj_1', threadId: 'thr_1', lane: 'apps' } as const;

function Page() {
  return `${useLiveStatus().state}: ${useDraft(THREAD, true)?.content ?? 'no draft'}`;
}

test('components show the state and the draft of the store that is provided', () => {
  const live = {
    status: () => ({ state: 'live', dataAt: 0, reason: null, gapAt: null, nextAttemptAt: null }),
    draft: (threadId: string) => ({ threadId, content: 'So far' }) as Draft,
  } as Partial<Live> as Live;
  const render = (given: Live | null) =>
    renderToString(
      <LiveProvider live={given}>
        <Page />
      </LiveProvider>,
    );
  expect(render(live)).toBe('live: So far');
  expect(render(null)).toBe('connecting: no draft');
});
