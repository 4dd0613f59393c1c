/**
 * The merge engine by itself, as an apply calls it, compared with git on a ready repository: nine merges, in
 * turns.
 */
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createMergeEngine } from '../../../packages/server/src/merge/pool.ts';
import type { TreeRef } from '../../../packages/server/src/merge/pool.ts';
import type { Tree } from '../../../packages/server/src/trees/tree.ts';
import { withChanges } from '../../../packages/server/src/merge/with-changes.ts';
import type { Aim, Benchmark, Row, Setup } from '../lib/benchmark.ts';
import { cpuOfEnded, cpuOfLiving } from '../lib/cpu.ts';
import { mergeTree, startMergeTree } from '../../harness/git.ts';
import { makeMerges } from '../lib/merges.ts';
import type { Merges, Round } from '../lib/merges.ts';
import { summarize } from '../../harness/statistics.ts';

const SIZES = [100, 1000, 10_000];
/** Of the event loop that serves everybody else, all turns of a merge together. */
const MAX_LOOP_MS = 5;
const CASES = [
  { what: 'independent edits', both: 0, limit: 0.5 },
  { what: 'one file changed on both sides', both: 1, limit: 1.5 },
  { what: '20 files changed on both sides', both: 20, limit: 1.5 },
];

export const mergeBenchmark: Benchmark = {
  name: 'merge',
  title: 'The merge engine alone, compared with git on a ready repository',
  async run(setup) {
    const warmUps = setup.quick ? 2 : 10;
    const rows: Row[] = [];
    const aims: Aim[] = [];
    const cpu = ['| CPU per merge, mean | engine | git | ratio |', '| --- | ---: | ---: | ---: |'];
    for (const files of SIZES) {
      const merges = await makeMerges(join(setup.scratch, String(files)), {
        files,
        both: CASES.map((c) => c.both),
        rounds: warmUps + (setup.quick ? 8 : 40),
      });
      for (const { what, both, limit } of CASES) {
        const name = `${files} files, ${what}`;
        const seen = await measure(setup, merges, { warmUps, rounds: merges.rounds.get(both)! });
        const [ours, git, standing, loop] = [seen.ours, seen.git, seen.standing, seen.loop].map(summarize);
        rows.push(
          { what: `${name}: engine`, unit: 'ms', figures: ours! },
          { what: 'git merge-tree', unit: 'ms', figures: git! },
          { what: 'git merge-tree --stdin, long-lived', unit: 'ms', figures: standing! },
        );
        aims.push({
          what: `${name}, of git's time (medians)`,
          bound: 'most',
          limit,
          value: ours!.median / git!.median,
          unit: '×',
        });
        if (files === SIZES.at(-1)) {
          rows.push({ what: 'event loop busy for the engine', unit: 'ms', figures: loop! });
          // To read the contents of many files takes the loop some hundred short turns: their sum is
          // nobody's wait.
          if (both <= 1)
            aims.push({
              what: `${name}, event loop per merge (median)`,
              bound: 'most',
              limit: MAX_LOOP_MS,
              value: loop!.median,
              unit: 'ms',
            });
        }
        cpu.push(
          `| ${name} | ${ms(seen.cpu)} | ${ms(seen.gitCpu)} | ${(seen.cpu / seen.gitCpu).toFixed(2)} × |`,
        );
        setup.say(
          `${name}: engine ${ms(ours!.median)}, git ${ms(git!.median)}; CPU ${ms(seen.cpu)}, ${ms(seen.gitCpu)}; event loop ${ms(loop!.median)}`,
        );
      }
    }
    return { rows, aims, notes: [NOTE, '', ...cpu] };
  },
};

const NOTE =
  "Each merge has a head and a draft that the engine has not seen; its base is the head of the previous merge, which its thread still has. The trees are in the caller's memory, as after an import, an edit or an apply; contents are read from packs in a local store and decompressed again for each merge. Each side edits five files, and the shared ones in addition. git: one pack with every commit, started for each merge by the same process; the long-lived one finds its results already written. Every result is compared with git's tree.";
const ms = (value: number) => `${value.toFixed(2)} ms`;

interface Seen {
  ours: number[];
  git: number[];
  /** One git that stays. */
  standing: number[];
  /** What the event loop was busy for. */
  loop: number[];
  /** Per merge, in ms. */
  cpu: number;
  gitCpu: number;
}

/**
 * CPU: of the engine, this process's own while it merges (Node counts all its threads) and that of its gits,
 * which live on; of git, that of the children that ended. Both in the same turns as the wall time, and none
 * of it counts the work of starting git here. The engine is a new one, so that its git lives as long as the
 * merges: after a hundred it makes a new repository and git, between two merges, for some 50 ms.
 */
async function measure(
  setup: Setup,
  { repository, base, readBlobs, treeId }: Merges,
  { warmUps, rounds }: { warmUps: number; rounds: Round[] },
): Promise<Seen> {
  const engine = createMergeEngine({ dir: join(setup.scratch, 'engine') });
  setup.atEnd(() => engine.close());
  const nothing = (): Seen => ({ ours: [], git: [], standing: [], loop: [], cpu: 0, gitCpu: 0 });
  const [unmeasured, seen] = [nothing(), nothing()];
  const measured = rounds.slice(warmUps);
  let { commit, tree } = base;
  for (const round of rounds.slice(0, warmUps)) await turn(round, unmeasured);
  const [living, ended] = [cpuOfLiving(), cpuOfEnded()];
  for (const round of measured) await turn(round, seen);
  seen.cpu = (seen.cpu + cpuOfLiving() - living) / measured.length;
  seen.gitCpu = (cpuOfEnded() - ended) / measured.length;
  await engine.close();
  const stays = startMergeTree(repository, base.commit);
  setup.atEnd(() => stays.stop());
  await stays.merge(rounds[0]!.head.commit, rounds[0]!.draft.commit);
  for (const { head, draft } of measured)
    seen.standing.push((await timedCall(() => stays.merge(head.commit, draft.commit))).ms);
  stays.stop();
  return seen;

  async function turn({ head, draft }: Round, into: Seen): Promise<void> {
    const [headTree, draftTree] = [withChanges(tree, head.changes), withChanges(tree, draft.changes)];
    const ref = (id: string, at: Tree): TreeRef => ({ id, load: () => at });
    const request = {
      base: ref(commit, tree),
      head: ref(head.commit, headTree),
      draft: ref(draft.commit, draftTree),
      readBlobs,
    };
    const [cpu, before] = [process.cpuUsage(), performance.eventLoopUtilization()];
    const { ms: took, value: merge } = await timedCall(() => engine.merge(request));
    const [used, { active }] = [process.cpuUsage(cpu), performance.eventLoopUtilization(before)];
    into.ours.push(took);
    into.cpu += (used.user + used.system) / 1000;
    into.loop.push(active);
    const byGit = await timedCall(() => mergeTree(repository, head.commit, draft.commit));
    into.git.push(byGit.ms);
    if (merge.status !== 'clean' || merge.invalid.length > 0)
      throw new Error(
        `The engine does not merge: ${JSON.stringify([merge.status, merge.conflicts, merge.invalid])}`,
      );
    if (treeId(merge.tree, merge.newBlobs) !== byGit.value)
      throw new Error('The engine and git do not merge alike');
    [commit, tree] = [head.commit, headTree];
  }
}

async function timedCall<T>(call: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const from = performance.now();
  const value = await call();
  return { ms: performance.now() - from, value };
}
