/** The commits of a repository, and the merges that they tell of: real ones, and the merges of `git revert` and `git cherry-pick`. */

/** In an order in which children come before their parents; parents are places in that order. */
export interface History {
  commits: { oid: string; tree: string; parents: number[] }[];
}

/** Places in a history. Of a merge, `commit` is the merge; of a revert or pick, the commit that is taken back or over. */
export interface Triple {
  kind: 'merge' | 'revert' | 'pick';
  commit: number;
  base: number;
  head: number;
  draft: number;
}

export interface Skipped {
  /** More than one merge base: git merges those first, Headrace has one base always. */
  crissCross: number;
  unrelated: number;
  octopus: number;
}

/** @param log of `git log --topo-order --format='%H %T %P'`. A parent that a shallow clone lacks is none. */
export function parseHistory(log: string): History {
  const rows = log.split('\n').filter(Boolean).map((row) => row.trim().split(' '));
  const places = new Map(rows.map(([oid], place) => [oid!, place]));
  return { commits: rows.map(([oid, tree, ...parents]) => ({ oid: oid!, tree: tree!, parents: parents.flatMap((p) => places.get(p) ?? []) })) };
}

/** Every merge of two parents with one merge base. */
export function realMerges(history: History): { triples: Triple[]; skipped: Skipped } {
  const skipped: Skipped = { crissCross: 0, unrelated: 0, octopus: 0 };
  const basesOf = createBaseFinder(history);
  const triples = history.commits.flatMap(({ parents }, commit): Triple[] => {
    if (parents.length < 2) return [];
    const [head, draft] = parents as [number, number];
    const bases = parents.length === 2 ? basesOf(head, draft) : [];
    if (parents.length > 2) skipped.octopus++;
    else if (bases.length > 1) skipped.crissCross++;
    else if (bases.length === 0) skipped.unrelated++;
    return bases.length === 1 ? [{ kind: 'merge', commit, base: bases[0]!, head, draft }] : [];
  });
  return { triples, skipped };
}

const HEAD = 1;
const DRAFT = 2;
const BOTH = HEAD | DRAFT;
const STALE = 4;
/** A draw that was there already, or has no later commit, is drawn again this often. */
const DRAWS = 20;
const NEAR = 30;

/** The best common ancestors of two commits, as `git merge-base --all`: children come first, so one pass over the order finds them. */
function createBaseFinder({ commits }: History): (head: number, draft: number) => number[] {
  const flags = new Uint8Array(commits.length);
  return (head, draft) => {
    flags.fill(0);
    flags[head]! |= HEAD;
    flags[draft]! |= DRAFT;
    const bases: number[] = [];
    let open = head === draft ? 1 : 2;
    for (let i = Math.min(head, draft); open > 0 && i < commits.length; i++) {
      const flag = flags[i]!;
      if (flag === 0) continue;
      if (!(flag & STALE)) open--;
      if (flag === BOTH) bases.push(i);
      const passed = flag === BOTH ? flag | STALE : flag;
      for (const parent of commits[i]!.parents) {
        const [before, after] = [flags[parent]!, flags[parent]! | passed];
        if (before === 0 && !(after & STALE)) open++;
        if (before !== 0 && !(before & STALE) && after & STALE) open--;
        flags[parent] = after;
      }
    }
    return bases;
  };
}

/**
 * `count` reverts and as many picks. A revert takes `commit` back on a later head: base is the commit, draft its parent. A pick takes
 * it over to any other head: base is its parent, draft the commit. Half of the heads are near, where clashes are likely.
 * @param below draws a whole number from 0 up to, not including, its argument.
 */
export function sampleTriples({ commits }: History, count: number, below: (end: number) => number): Triple[] {
  const triples = new Map<string, Triple>();
  for (const kind of ['revert', 'pick'] as const) {
    const wanted = triples.size + count;
    for (let draws = 0; draws < count * DRAWS && triples.size < wanted; draws++) {
      const commit = below(commits.length);
      const [parent, ...more] = commits[commit]!.parents;
      const head = otherHead(kind, commit);
      if (parent === undefined || more.length > 0 || head === undefined || head === parent) continue;
      triples.set(`${kind} ${commit} ${head}`, kind === 'revert' ? { kind, commit, base: commit, head, draft: parent } : { kind, commit, base: parent, head, draft: commit });
    }
  }
  return [...triples.values()];

  function otherHead(kind: 'revert' | 'pick', commit: number): number | undefined {
    const near = below(2) === 0;
    const span = kind === 'revert' ? commit : commits.length;
    if (span === 0) return undefined;
    const distance = 1 + below(near ? Math.min(NEAR, span) : span);
    const place = kind === 'pick' && below(2) === 0 ? commit + distance : commit - distance;
    return commits[place] && place !== commit ? place : undefined;
  }
}
