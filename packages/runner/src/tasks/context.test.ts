import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { captureChanges, capture } from '../capture/capture.ts';
import { CONTEXT_FOLDER, type JournalEntry, type TurnAgent, type TurnRequest } from '../protocol.ts';
import { endOf, entriesOf, makeBench, tarStream } from '../runner.fixture.ts';
import { tarOf, type TarFile } from '../tar.ts';
import { Trees } from '../workspaces/trees.ts';
import { fakeAgent } from './fake-agent.fixture.ts';

const bench = await makeBench();
let counter = 0;
const next = (kind: string) => `${kind}_${++counter}`;
const stream = (files: TarFile[]) => Readable.from([tarOf(files)], { objectMode: false });
const FILES: TarFile[] = [
  { path: 'instructions.md', content: 'Write tests.' },
  { path: 'skills/notes/SKILL.md', content: 'notes' },
  { path: 'skills/notes/run.sh', content: '#!/bin/sh\necho ran', executable: true },
];
const TOLD: TurnRequest['told'] = {
  instructions: 'Write tests.',
  skills: [{ name: 'notes', description: 'How to\nwrite notes.' }],
};

async function workspace(): Promise<string> {
  const id = next('thr');
  await bench!.workspaces.put(id, tarStream({}));
  return id;
}
async function kept(files = FILES): Promise<string> {
  const key = next('ctx');
  await bench!.workspaces.trees.keepContext({ key, group: 'prj_1' }, stream(files));
  return key;
}
const start = (workspaceId: string, more: Partial<TurnRequest>) =>
  bench!.tasks.start(next('run'), {
    kind: 'turn',
    workspaceId,
    agent: fakeAgent(''),
    prompt: 'the message',
    permissions: 'allow',
    timeoutMs: 30_000,
    ...more,
  }).task;
const replyOf = (entries: JournalEntry[]): string => {
  expect(endOf(entries).error).toBe(null);
  return entries.flatMap((e) => (e.type === 'text' ? [e.content] : [])).at(-1) ?? '';
};
const reply = async (workspaceId: string, more: Partial<TurnRequest>) =>
  replyOf(await entriesOf(start(workspaceId, more)));

/** Replies with what a shell script prints. */
const shell = (script: string, more: Partial<TurnAgent> = {}): TurnAgent =>
  fakeAgent(
    `on['session/prompt'] = () => { text(require('child_process').spawnSync('sh', ['-c', ${JSON.stringify(script)}], { encoding: 'utf8' }).stdout || '-'); return { stopReason: 'end_turn' }; };`,
    more,
  );
/** Replies with its prompt's texts; its sessions can be loaded. */
const ECHO =
  fakeAgent(`on.initialize = () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
on['session/load'] = () => ({});
on['session/prompt'] = ({ prompt }) => { text(JSON.stringify(prompt.map((one) => one.text))); return { stopReason: 'end_turn' }; };`);

describe.skipIf(!bench)('the folder of a context', () => {
  test('is there, read-only, with what was sent; without a key it is empty', async () => {
    const look = shell('cd "$HEADRACE_CONTEXT"; pwd; find . -type f | sort; skills/notes/run.sh');
    expect(await reply(await workspace(), { agent: look, context: await kept() })).toBe(
      `${CONTEXT_FOLDER}\n./instructions.md\n./skills/notes/SKILL.md\n./skills/notes/run.sh\nran\n`,
    );
    expect(await reply(await workspace(), { agent: look })).toBe(`${CONTEXT_FOLDER}\n`);
    const write = shell(
      'cd "$HEADRACE_CONTEXT"; for f in instructions.md new skills/x; do (echo x > $f) 2>/dev/null && echo wrote $f; done; chmod 777 . 2>/dev/null && echo changed; rm skills/notes/run.sh 2>/dev/null && echo removed; echo done',
    );
    const key = await kept();
    for (const context of [key, undefined])
      expect(await reply(await workspace(), { agent: write, ...(context && { context }) })).toBe('done\n');
    expect(await reply(await workspace(), { agent: look, context: key })).toContain('ran');
  });

  test('is in no capture', async () => {
    const id = await workspace();
    await reply(id, {
      agent: shell('touch made; cat "$HEADRACE_CONTEXT/instructions.md"'),
      context: await kept(),
    });
    const found = bench!.workspaces.get(id);
    const { files, warnings } = await (found.tree.over ? captureChanges : capture)(bench!.host, found, []);
    expect([files.map(({ path }) => path), warnings]).toEqual([['made'], []]);
  });

  test('that is not kept is refused before anything starts, and the workspace is free', async () => {
    const id = await workspace();
    expect(() => start(id, { context: 'unknown' })).toThrow(expect.objectContaining({ code: 'no_context' }));
    expect(bench!.workspaces.get(id).usedBy).toBe(null);
  });

  test('that is kept is not read again', async () => {
    const { trees } = bench!.workspaces;
    const key = await kept();
    await trees.keepContext({ key, group: 'prj_1' }, Readable.from(['no archive'], { objectMode: false }));
    trees.takeContext(key).release();
  });

  test('is dropped least recently used, and never while a turn has it or waits for it', async () => {
    const trees = new Trees(bench!.host, { trees: 1, files: 1e6, bytes: 1e9 });
    const keep = (key: string, group = 'prj_1') => trees.keepContext({ key, group }, stream(FILES));
    const isKept = (key: string) => {
      try {
        trees.takeContext(key).release();
        return true;
      } catch {
        return false;
      }
    };
    await keep('a');
    const used = trees.takeContext('a');
    await keep('b');
    expect(isKept('b')).toBe(true);
    await keep('c', 'prj_2');
    expect([isKept('a'), isKept('b')]).toEqual([true, false]);
    trees.forget('prj_1');
    expect(isKept('a')).toBe(true);
    used.release();
    used.release();
    trees.forget('prj_1');
    expect([isKept('a'), isKept('c'), trees.groups()]).toEqual([false, true, ['prj_2']]);
  });
});

describe.skipIf(!bench)('an agent without a place for them', () => {
  const SKILLS = `<skills>\nRead the SKILL.md in the folder of a skill before you do what its description names.\n- notes: How to write notes. (${CONTEXT_FOLDER}/skills/notes)\n</skills>`;

  test('is told in the first prompt of a session, and in no further one', async () => {
    const id = await workspace();
    const context = await kept();
    const request = { agent: ECHO, context, told: TOLD };
    expect(JSON.parse(await reply(id, request))).toEqual([
      '<instructions>\nWrite tests.\n</instructions>',
      SKILLS,
      'the message',
    ]);
    expect(JSON.parse(await reply(id, request))).toEqual(['the message']);
  });

  test('is told only what it does not find', async () => {
    const context = await kept();
    const given = (more: Partial<TurnAgent>) => ({ agent: { ...ECHO, ...more }, context, told: TOLD });
    expect(JSON.parse(await reply(await workspace(), given({ instructionsFile: 'a.md' })))).toEqual([
      SKILLS,
      'the message',
    ]);
    expect(JSON.parse(await reply(await workspace(), given({ skillsFolder: '.a/s' })))).toEqual([
      '<instructions>\nWrite tests.\n</instructions>',
      'the message',
    ]);
  });
});

describe.skipIf(!bench)('an agent with places in its HOME', () => {
  const PLACES = { instructionsFile: '.a/b/NOTES.md', skillsFolder: '.a/skills' };
  const LOOK = 'cd; find . -type f | sort; cat .a/b/NOTES.md; .a/skills/notes/run.sh';

  test('finds them there, fresh in each turn: what is gone vanishes', async () => {
    const id = await workspace();
    const agent = shell(
      `${LOOK}; echo mine > .a/skills/notes/mine; chmod 500 .a/skills/notes; echo x > .a/b/NOTES.md`,
      {
        ...PLACES,
        home: { '.a/skills/own/SKILL.md': "the operator's" },
      },
    );
    const told =
      './.a/b/NOTES.md\n./.a/skills/notes/SKILL.md\n./.a/skills/notes/run.sh\n./.a/skills/own/SKILL.md\nWrite tests.ran\n';
    for (let i = 0; i < 2; i++) expect(await reply(id, { agent, context: await kept() })).toBe(told);
    const other = await kept([{ path: 'skills/other/SKILL.md', content: 'other' }]);
    const look = (more: Partial<TurnRequest>) => reply(id, { agent: shell(LOOK, PLACES), ...more });
    expect(await look({ context: other })).toBe('./.a/skills/other/SKILL.md\n');
    expect(await look({})).toBe('-');
  });

  test.each([
    ['a link to the context', 'ln -s "$HEADRACE_CONTEXT" .a'],
    ['a deeper link to the context', 'mkdir .b; ln -s "$HEADRACE_CONTEXT" .b/c'],
    ['closed folders', 'mkdir -p .a .b/c/skills/x; touch .a/instructions.md; chmod 500 .a .b/c .b'],
  ])('%s that it left above them gives way', async (_, script) => {
    const id = await workspace();
    const context = await kept();
    await reply(id, { agent: shell(`cd; ${script}`), context });
    const places = { instructionsFile: '.a/instructions.md', skillsFolder: '.b/c/skills' };
    const look = shell('cat ~/.a/instructions.md ~/.b/c/skills/notes/SKILL.md', places);
    for (let i = 0; i < 2; i++) expect(await reply(id, { agent: look, context })).toBe('Write tests.notes');
  });

  test('links and files that it left lead nowhere else, and give way', async () => {
    const id = await workspace();
    const leave = shell(
      'cd /workspace; mkdir src; echo mine > src/NOTES.md; cd; mkdir .a; ln -s /workspace/src .a/b; echo x > .a/skills',
      PLACES,
    );
    await reply(id, { agent: leave });
    const look = shell('cat .a/b/NOTES.md ~/.a/b/NOTES.md ~/.a/skills/notes/SKILL.md src/*', PLACES);
    expect(await reply(id, { agent: look, context: await kept() })).toBe('Write tests.notesmine\n');
  });
});
