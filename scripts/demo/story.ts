/**
 * The main job, step by step, through the client alone: import, setup, two threads at once, merges with a conflict,
 * a signed build, download, replay.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pullArtifact, push } from '@headrace/client/node';
import type { ApplyPreview, Client, HeadraceEvent, Run } from '@headrace/client';
import { EXAMPLES, must, RUN_LIMIT_MS, WORKSHOP } from './examples.ts';
import { show } from './follow.ts';
import type { Output } from './output.ts';
import type { Recorder } from './recorder.ts';

const EDITS = [
  { name: 'reminders', title: 'Overdue reminders', file: 'overdue-reminders.md' },
  { name: 'theme', title: 'Dark theme', file: 'dark-theme.md' },
] as const;
const SETUP = {
  command: 'node scripts/seed.mjs',
  paths: ['data/', 'server/', 'shared/', 'scripts/seed.mjs'],
};
/** It also prints the key, which nobody should do. */
const COMMAND = 'node --test && node scripts/build.mjs && echo "signed with $RELEASE_KEY"';
const BUILD = { command: COMMAND, outputDirectory: 'dist', setup: true };
/** A line that the dark theme changes too. */
const CONTESTED = {
  path: 'web/preferences.js',
  from: "export const THEMES = ['light', 'contrast'];",
  to: "export const THEMES = ['light', 'sepia', 'contrast'];",
};

interface Story {
  client: Client;
  output: Output;
  recorder: Recorder;
  /** Where builds are unpacked. */
  folder: string;
}

export interface Outcome {
  appId: string;
  headRevision: number;
  artifactFolder: string;
  files: number;
  events: number;
}

interface Draft {
  name: string;
  threadId: string;
  run: Run;
}

/** Does all of it. Throws where anything is not as it has to be. */
export async function tell(story: Story): Promise<Outcome> {
  const { output, client } = story;
  const { appId, sourceId } = await importWorkshop(story);
  await setUp(story, appId);
  const drafts = await editAtOnce(story, appId);
  await applyBoth(story, appId, drafts);
  await settleConflict(story, appId, sourceId);
  const head = await client.head.get(appId);
  const { artifactFolder, files } = await buildHead(story, appId, head.sourceId);
  let events = 0;
  await output.step('replay', async () => {
    events = await compareFeeds(story, appId);
    return `${events} events by cursor, the same as on the stream: none lost, none twice`;
  });
  return { appId, headRevision: head.revision, artifactFolder, files, events };
}

async function importWorkshop({
  client,
  output,
  recorder,
}: Story): Promise<{ appId: string; sourceId: string }> {
  let [appId, sourceId] = ['', ''];
  await output.step('app', async () => {
    const app = await client.apps.create({ name: 'Workshop' });
    appId = app.id;
    recorder.watchApp(appId);
    return `created ${app.id}`;
  });
  await output.step('import', async () => {
    const source = await push(client, appId, WORKSHOP, { message: 'First import' });
    sourceId = source.id;
    return `${source.fileCount} files, ${size(source.byteSize)}; hash checked`;
  });
  await output.step('head', async () => `revision ${(await client.head.get(appId)).revision}`);
  return { appId, sourceId };
}

/** What every sandbox of the workshop finds: made once, for all that have the same files. */
async function setUp({ client, output }: Story, appId: string): Promise<void> {
  await output.step('setup', async () => {
    await client.settings.update(appId, { setup: SETUP });
    let setup = await client.setups.create(appId, {});
    const deadline = Date.now() + RUN_LIMIT_MS;
    while (setup.status !== 'ready' && setup.status !== 'failed' && Date.now() < deadline)
      setup = await client.setups.get(appId, setup.id, { waitSeconds: 20 });
    must(setup.status === 'ready', `the setup is ready (${setup.status}: ${setup.error?.message})`);
    return `${SETUP.command}: a layer of ${size(setup.byteSize!)} below every sandbox`;
  });
}

async function editAtOnce({ client, output }: Story, appId: string): Promise<Draft[]> {
  let drafts: Draft[] = [];
  await output.step('threads', async () => {
    drafts = await Promise.all(
      EDITS.map(async ({ name, title, file }) => {
        const { thread } = await client.threads.create(appId, { title });
        const content = await readFile(join(EXAMPLES, 'edits', file), 'utf8');
        const sent = client.messages.send(appId, thread.id, { content });
        // From here on, the thread has something to do.
        await sent;
        const signal = AbortSignal.timeout(RUN_LIMIT_MS);
        const [ended] = await Promise.all([
          sent.done({ timeoutMs: RUN_LIMIT_MS }),
          show(output, name, client.threads.follow(appId, thread.id, { signal })),
        ]);
        must(
          ended.status === 'completed',
          `the run of "${title}" completes (${ended.status}: ${ended.error?.message ?? 'no error'})`,
        );
        return { name, threadId: thread.id, run: ended };
      }),
    );
    return `${drafts.length} runs completed, ${(togetherMs(drafts.map((d) => d.run)) / 1000).toFixed(1)} s of them at the same time`;
  });
  return drafts;
}

/** How long all of the runs ran at once. */
function togetherMs(runs: readonly Run[]): number {
  const starts = runs.map((run) => Date.parse(run.startedAt!));
  const ends = runs.map((run) => Date.parse(run.finishedAt!));
  const together = Math.min(...ends) - Math.max(...starts);
  must(together > 0, 'the two runs run at the same time');
  return together;
}

async function applyBoth({ client, output }: Story, appId: string, drafts: readonly Draft[]): Promise<void> {
  await output.step('preview', async () => {
    const previews = await Promise.all(
      drafts.map(async ({ name, threadId, run }) => {
        const preview = await client.applies.preview(appId, threadId, {
          expectedSourceId: run.resultSourceId!,
        });
        must(preview.status === 'clean', `the draft of ${name} merges cleanly`);
        for (const file of preview.changes)
          output.detail(name, `${file.status.padEnd(8)} +${file.additions} -${file.deletions} ${file.path}`);
        return `${preview.changes.length} files`;
      }),
    );
    return `both are clean: ${previews.join(' and ')} would change`;
  });
  await output.step('apply', async () => {
    await Promise.all(
      drafts.map(async ({ name, threadId, run }) => {
        const apply = await client.applies
          .create(appId, threadId, { expectedSourceId: run.resultSourceId! })
          .done();
        must(
          apply.status === 'applied',
          `the draft of ${name} is applied (${apply.status}: ${apply.error ?? 'no error'})`,
        );
        output.detail(
          name,
          `number ${apply.sequence} in the queue: applied, head is ${apply.resultSourceId}`,
        );
      }),
    );
    const { revision } = await client.head.get(appId);
    must(revision === 3, `the head stands at revision 3 (it is ${revision})`);
    return 'both applied: the head stands at revision 3';
  });
}

/** A third draft, begun before the others were applied: what clashes is shown, and decided by hand. */
async function settleConflict({ client, output }: Story, appId: string, sourceId: string): Promise<void> {
  await output.step('conflict', async () => {
    const { thread } = await client.threads.create(appId, { title: 'Sepia theme', sourceId });
    const contested = await client.sources.file(appId, sourceId, { path: CONTESTED.path });
    const readme = await client.sources.file(appId, sourceId, { path: 'README.md' });
    must(contested.content.includes(CONTESTED.from), `${CONTESTED.path} has the line to change`);
    const draft = await client.edits.create(appId, thread.id, {
      expectedSourceId: sourceId,
      changes: [
        { path: CONTESTED.path, content: contested.content.replace(CONTESTED.from, CONTESTED.to) },
        { path: 'README.md', content: `${readme.content}\nThemes are listed in \`${CONTESTED.path}\`.\n` },
      ],
    });
    const manual = { expectedSourceId: draft.id, conflictResolution: 'manual' as const };
    const first = await client.applies.create(appId, thread.id, manual).done();
    must(
      first.status === 'conflicted' && first.conflicts.join() === CONTESTED.path,
      `the third draft conflicts in ${CONTESTED.path} (${first.status}: ${first.conflicts.join()})`,
    );
    const { conflicts } = await client.applies.preview(appId, thread.id, manual);
    for (const line of conflicts.flatMap(linesOf)) output.detail('sepia', line);
    const decision = {
      ...manual,
      expectedHeadSourceId: first.headSourceId!,
      resolutions: [{ path: CONTESTED.path, take: 'head' as const }],
    };
    const second = await client.applies.create(appId, thread.id, decision).done();
    must(
      second.status === 'applied',
      `the resolved draft is applied (${second.status}: ${second.error ?? 'no error'})`,
    );
    const { revision } = await client.head.get(appId);
    return `1 conflict, decided for the head's side; the rest applied: revision ${revision}`;
  });
}

function linesOf({ path, kind, hunks = [] }: ApplyPreview['conflicts'][number]): string[] {
  return [
    `${kind} conflict in ${path}`,
    ...hunks.flatMap((hunk) => [
      ...hunk.head.map((line) => `  head  ${line}`),
      ...hunk.draft.map((line) => `  draft ${line}`),
    ]),
  ];
}

async function buildHead(
  { client, output, folder }: Story,
  appId: string,
  sourceId: string,
): Promise<{ artifactFolder: string; files: number }> {
  const key = randomBytes(24).toString('base64url');
  let [buildId, artifactFolder, files] = ['', '', 0];
  await output.step('build', async () => {
    await client.environment.set(appId, 'RELEASE_KEY', { value: key, secret: true, targets: ['build'] });
    const build = await client.builds.createOfApp(appId, { ...BUILD, sourceId }).done();
    const log = (await client.builds.logs(appId, build.id)).text;
    const lines = log.trimEnd().split('\n');
    for (const line of build.status === 'ready'
      ? lines.filter((l) => /(tests|pass|fail) \d+$|^signed/.test(l))
      : lines.slice(-20))
      output.detail('build', line);
    must(build.status === 'ready', `the build is ready (${build.error?.code}: ${build.error?.message})`);
    must(log.includes('signed with ***') && !log.includes(key), 'the log has the secret masked');
    buildId = build.id;
    return 'the tests pass, the build is signed: ready, its key masked in the log';
  });
  await output.step('artifact', async () => {
    artifactFolder = join(folder, buildId);
    const { manifest, written } = await pullArtifact(client, appId, buildId, { folder: artifactFolder });
    must(manifest.sourceId === sourceId, 'the artifact is of the pinned head');
    const [report, signature] = await Promise.all(
      ['build.json', 'build.sig'].map((name) => readFile(join(artifactFolder, name))),
    );
    const expected = createHmac('sha256', key).update(report!).digest('hex');
    must(signature!.toString().trim() === expected, 'the artifact is signed with the key');
    files = written.length;
    return `${files} files, ${size(manifest.byteSize)}: each as the manifest's hash says`;
  });
  return { artifactFolder, files };
}

/** The replay by cursor and the stream have the same events. Returns how many. */
async function compareFeeds({ client, recorder }: Story, appId: string): Promise<number> {
  const replayed: HeadraceEvent[] = [];
  for await (const event of client.events.replay({ appId })) replayed.push(event);
  await recorder.seen(replayed.at(-1)!.id);
  const streamed = recorder.events.slice(0, replayed.length).map((event) => event.id);
  must(new Set(replayed.map((event) => event.id)).size === replayed.length, 'no event is replayed twice');
  must(
    replayed.every((event, i) => event.id === streamed[i]),
    'replay and stream have the same events in the same order',
  );
  must(replayed[0]!.type === 'platform.app.created', 'the feed begins with the app');
  return replayed.length;
}

const size = (bytes: number) => `${(bytes / 1024).toFixed(0)} KiB`;
