/**
 * The commits of a repository, and merges with their contents: real ones, those of `git revert` and `git
 * cherry-pick`, and distant ones.
 */

/** In an order in which children come before their parents; parents are places in that order. */
export interface History {
  commits: { oid: string; tree: string; parents: number[] }[];
}

/**
 * Places in a history. Of a merge, `commit` is the merge; of a revert or pick, the commit that is taken
 * back or over; else the draft.
 */
export interface Triple {
  kind: 'merge' | 'revert' | 'pick' | 'distant';
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
  /** One of git's assertions fails: it has no opinion. */
  aborted: number;
}

/** @param log of `git log --topo-order --format='%H %T %P'`. A parent that a shallow clone lacks is none. */
export function parseHistory(log: string): History {
  const rows = log
    .split('\n')
    .filter(Boolean)
    .map((row) => row.trim().split(' '));
  const places = new Map(rows.map(([oid], place) => [oid!, place]));
  return {
    commits: rows.map(([oid, tree, ...parents]) => ({
      oid: oid!,
      tree: tree!,
      parents: parents.flatMap((p) => places.get(p) ?? []),
    })),
  };
}

/** Every merge of two parents with one merge base. */
export function realMerges(history: History): { triples: Triple[]; skipped: Skipped } {
  const skipped: Skipped = { crissCross: 0, unrelated: 0, octopus: 0, aborted: 0 };
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
/** A draw that was there already, or is no merge, is made again this often. */
const DRAWS = 20;
const NEAR = 30;

/**
 * The best common ancestors of two commits, as `git merge-base --all`: children come first, so one pass
 * over the order finds them.
 */
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

/** `undefined` where what was drawn is no merge of the kind. */
type Draw = (commits: History['commits'], below: (end: number) => number) => Triple | undefined;

/**
 * Base is the commit, head a later one, draft the commit's parent. Half of the heads are near, where
 * clashes are likely.
 */
const drawRevert: Draw = (commits, below) => {
  const commit = below(commits.length);
  const [draft, ...more] = commits[commit]!.parents;
  if (commit === 0 || draft === undefined || more.length > 0) return undefined;
  return { kind: 'revert', commit, base: commit, head: commit - distance(commit, below), draft };
};

/** Base is the commit's parent, draft the commit, head any other commit. */
const drawPick: Draw = (commits, below) => {
  const commit = below(commits.length);
  const [base, ...more] = commits[commit]!.parents;
  const head = commit + (below(2) === 0 ? 1 : -1) * distance(commits.length, below);
  if (base === undefined || more.length > 0 || !commits[head] || head === base) return undefined;
  return { kind: 'pick', commit, base, head, draft: commit };
};

/**
 * Any two commits upon a third one, mostly an older one: branches that went apart long ago, where much
 * moved on both sides.
 */
const drawDistant: Draw = (commits, below) => {
  const first = below(commits.length);
  const span = [10, 40, 150, commits.length][below(4)]!;
  const places = [0, 0, 0].map(() => Math.min(first + below(span), commits.length - 1));
  const base = below(4) === 0 ? places[0]! : Math.max(...places);
  const [head, draft] = places.filter((place) => place !== base);
  return head === undefined || draft === undefined
    ? undefined
    : { kind: 'distant', commit: draft, base, head, draft };
};

const distance = (span: number, below: (end: number) => number): number =>
  1 + below(below(2) === 0 ? Math.min(NEAR, span) : span);

/**
 * `count` merges of each kind that can be drawn, as far as a short history has so many. @param below draws
 * a whole number from 0 up to, not including, its argument.
 */
export function sampleTriples({ commits }: History, count: number, below: (end: number) => number): Triple[] {
  return [drawRevert, drawPick, drawDistant].flatMap((draw) => {
    const triples = new Map<string, Triple>();
    for (let draws = 0; draws < count * DRAWS && triples.size < count; draws++) {
      const triple = draw(commits, below);
      if (triple) triples.set(`${triple.base} ${triple.head} ${triple.draft}`, triple);
    }
    return [...triples.values()];
  });
}
