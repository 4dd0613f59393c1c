/** For tests: repairs by script. */
import { expect } from 'vitest';
import type { TestServer } from '../../service.fixture.ts';
import { ok, sh, until } from '../../threads/threads.fixture.ts';
import { draftsOf, P } from '../applies.fixture.ts';
import type { Draft, TestApply } from '../applies.fixture.ts';

export interface Repaired extends TestApply {
  repairs: {
    runId: string;
    headSourceId: string;
    revision: number;
    error: string | null;
    report: { status: string; summary: string; checks: string[] } | null;
    candidateFingerprint?: string;
  }[];
}
export type Clash = Draft & { base: string; head: string };

/** Longer than any test waits: the test ends the repair. */
export const HELD = 'sleep 60';
export const report = (status: string, summary = 'Read both sides.', checks: string[] = []) =>
  `cat > .hoplite/repair/report.json <<'END'\n${JSON.stringify({ status, summary, checks })}\nEND`;
export const markers = "printf '<<<<<<< head\\nhead\\n=======\\ndraft\\n>>>>>>> draft\\n' > a.txt";
export const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 20 }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('');

export function repairsOf(server: TestServer) {
  const d = draftsOf(server);
  const thread = async ({ appId, threadId }: Draft) =>
    (await ok(server.call('GET', `${P}/apps/${appId}/threads/${threadId}`))).thread;
  const list = async ({ appId, threadId }: Draft, name: string) =>
    (await ok(server.call('GET', `${P}/apps/${appId}/threads/${threadId}/${name}?limit=200`)))[name];
  return {
    ...d,
    thread,
    list,
    /**
     * Makes a draft with a.txt in conflict and m.txt merged cleanly into contents that neither side has. The
     * head also has head.txt, the draft new.txt.
     */
    async clash(...commands: string[]): Promise<Clash> {
      const made = await d.diverged(
        { 'a.txt': 'base\n', 'm.txt': lines(), '.gitignore': 'cache\n' },
        { 'a.txt': 'head\n', 'm.txt': lines({ 2: 'HEAD' }), 'head.txt': 'h\n' },
        { 'a.txt': 'draft\n', 'm.txt': lines({ 18: 'DRAFT' }), 'new.txt': 'new\n' },
      );
      if (commands.length) await this.script(made, ...commands);
      return made;
    },
    script: async ({ appId }: Draft, ...commands: string[]) => {
      await ok(
        server.call('PATCH', `${P}/apps/${appId}`, {
          metadata: { 'headrace.repairScript': sh(commands.join('\n')) },
        }),
      );
    },
    /** Waits for the workspaces of all threads: their preparation publishes too. */
    prepared: async ({ appId }: Draft) => {
      await until('the workspaces to be ready', async () =>
        (await ok(server.call('GET', `${P}/apps/${appId}/threads`))).threads.every(
          (t: { workspaceStatus: string }) => t.workspaceStatus === 'ready',
        ),
      );
    },
    repair: async (draft: Draft) => (await d.finish(draft)) as Repaired,
    /** Makes every command of a repair wait for an answer. */
    ask: async ({ appId }: Draft) => {
      await ok(
        server.call('PATCH', `${P}/apps/${appId}/settings`, { approvals: [{ tool: 'sh', decision: 'ask' }] }),
      );
    },
    asked: async (draft: Draft) =>
      until(
        'a repair to ask',
        async () =>
          ((await list(draft, 'approvals')) as { id: string; status: string }[]).find(
            (a) => a.status === 'pending',
          )?.id,
      ),
    allow: (draft: Draft, id: string) =>
      ok(
        server.call('POST', `${P}/apps/${draft.appId}/threads/${draft.threadId}/approvals/${id}`, {
          decision: 'approve',
        }),
      ),
    running: async (draft: Draft) =>
      until('a repair to run', async () =>
        ((await list(draft, 'runs')) as { id: string; status: string }[]).find((r) => r.status === 'running'),
      ),
    stop: (draft: Draft) =>
      ok(server.call('POST', `${P}/apps/${draft.appId}/threads/${draft.threadId}/stop`, {})),
    /** Expects the draft to take work again, in a workspace that holds nothing else. */
    async expectReopened(draft: Clash): Promise<void> {
      expect(await thread(draft)).toMatchObject({
        latestSourceId: draft.sourceId,
        sealedAt: null,
        status: 'ready',
      });
      expect((await d.head(draft.appId)).sourceId).toBe(draft.head);
      const { run } = await ok(
        server.call('POST', `${P}/apps/${draft.appId}/threads/${draft.threadId}/messages`, {
          content: sh('ls -A > seen; cat a.txt >> seen'),
        }),
      );
      const ended = (
        await ok(
          server.call(
            'GET',
            `${P}/apps/${draft.appId}/threads/${draft.threadId}/runs/${run.id}?waitSeconds=30`,
          ),
        )
      ).run;
      expect(
        (await d.files(draft.appId, ended.resultSourceId)).seen
          ?.split('\n')
          .filter((name) => name !== 'cache'),
      ).toEqual(['.gitignore', 'a.txt', 'm.txt', 'new.txt', 'seen', 'draft', '']);
      expect(await list(draft, 'checkpoints')).toMatchObject([{ kind: 'run' }, { kind: 'edit' }]);
    },
  };
}
