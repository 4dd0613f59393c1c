/**
 * The decisions on the conflicts of a draft, as a person makes them: without a terminal or a service, so that what is
 * shown and what is sent come from the same place.
 *
 *   –        head, draft, text, skip   decided
 *   –        agent                     this one and all undecided ones: agent
 *   decided  undo                      as it was before the last decision
 */
import { createHash } from 'node:crypto';
import type { ApplyPreview, ConflictFile } from '@headrace/client';

export type Conflict = ApplyPreview['conflicts'][number];
/** A file's own contents, and where they are from. */
export interface OwnText {
  content: string;
  encoding: 'utf8' | 'base64';
  from: 'both sides' | 'the editor' | 'a file';
}
export type Decision =
  | { take: 'head' | 'draft' }
  | { own: OwnText }
  /** Left to the repair by an agent. */
  | 'agent'
  /** Left undecided: nothing is applied. */
  | 'skip';
export type Decisions = ReadonlyMap<string, Decision>;

/** Where a person is in the list of conflicts. */
export interface Place {
  conflicts: readonly Conflict[];
  decisions: Decisions;
  /** What undo brings back, the last one at the end. */
  past: readonly Decisions[];
}

export const begin = (conflicts: readonly Conflict[], decisions: Decisions): Place => ({
  conflicts,
  decisions,
  past: [],
});

/** The first conflict without a decision; undefined when all have one. */
export const nextOf = ({ conflicts, decisions }: Place): Conflict | undefined =>
  conflicts.find(({ path }) => !decisions.has(path));

export function decide(place: Place, path: string, decision: Decision): Place {
  const paths = decision === 'agent' ? undecided(place) : [path];
  return {
    ...place,
    decisions: new Map([...place.decisions, ...paths.map((one) => [one, decision] as const)]),
    past: [...place.past, place.decisions],
  };
}

const undecided = ({ conflicts, decisions }: Place): string[] =>
  conflicts.flatMap(({ path }) => (decisions.has(path) ? [] : [path]));

/** The same place if nothing was decided. */
export function undo(place: Place): Place {
  const before = place.past.at(-1);
  return before ? { ...place, decisions: before, past: place.past.slice(0, -1) } : place;
}

// What becomes of them.

export interface Change {
  path: string;
  content: string | null;
  encoding?: 'utf8' | 'base64';
  executable?: boolean;
}
/** What is sent for the decisions. */
export interface Plan {
  /** Not complete: some are skipped or undecided. */
  open: string[];
  mode: 'agent' | 'manual';
  /** An edit of the draft that goes before the apply. */
  changes: Change[];
  resolutions: { path: string; take: 'head' | 'draft' }[];
  /** What the agent decides. */
  left: string[];
}

/** What the plan must know of files: the head's, where it goes into the draft, and which are executable. */
export type FileOf = (path: string) => Pick<ConflictFile, 'head' | 'draft'> | undefined;

/** At these, one path is one file: the head's file in the draft ends the conflict. */
const OF_ONE_PATH = new Set(['content', 'add_add', 'delete_modify', 'binary', 'mode']);

/**
 * An apply takes resolutions or an agent, not both: an agent does not overrule decisions made by hand. So if an agent
 * decides some conflicts, decisions for the head go into the draft, where they are conflicts no more, and so do own
 * texts, from which the agent starts; what takes the draft's side is the agent's to decide.
 */
export function planOf(conflicts: readonly Conflict[], decisions: Decisions, fileOf: FileOf): Plan {
  const plan: Plan = { open: [], mode: 'manual', changes: [], resolutions: [], left: [] };
  if (conflicts.some(({ path }) => decisions.get(path) === 'agent')) plan.mode = 'agent';
  for (const conflict of conflicts) {
    const { path } = conflict;
    const decision = decisions.get(path) ?? 'skip';
    if (decision === 'skip') plan.open.push(path);
    else if (plan.mode === 'agent') planForAgent(plan, conflict, decision, fileOf(path));
    else if (decision !== 'agent') {
      if ('own' in decision && !isWritten(conflict, decision.own))
        plan.changes.push(changeOf(path, decision.own, fileOf(path)));
      plan.resolutions.push({ path, take: 'own' in decision ? 'draft' : decision.take });
    }
  }
  return plan;
}

function planForAgent(
  plan: Plan,
  conflict: Conflict,
  decision: Exclude<Decision, 'skip'>,
  file: ReturnType<FileOf>,
): void {
  const { path, kind } = conflict;
  if (decision !== 'agent' && 'own' in decision) {
    if (!isWritten(conflict, decision.own)) plan.changes.push(changeOf(path, decision.own, file));
    plan.left.push(path);
    return;
  }
  const change =
    decision !== 'agent' && decision.take === 'head' && OF_ONE_PATH.has(kind) && headOf(path, file);
  if (change) plan.changes.push(change);
  else plan.left.push(path);
}

/** Undefined if the head's file is not known, or too large to be read. */
function headOf(path: string, file: ReturnType<FileOf>): Change | undefined {
  if (!file) return undefined;
  if (file.head === null) return { path, content: null };
  const { content, encoding, executable } = file.head;
  return content === null ? undefined : { path, content, encoding, executable };
}

/** The draft keeps its bit; where it has no file, the head's bit counts. */
function changeOf(path: string, { content, encoding }: OwnText, file: ReturnType<FileOf>): Change {
  const isExecutable = file?.draft === null && file.head?.executable === true;
  return { path, content, encoding, ...(isExecutable && { executable: true }) };
}

const isWritten = ({ draft }: Conflict, own: OwnText): boolean => draft === hashOf(own);

export const hashOf = ({ content, encoding }: Pick<OwnText, 'content' | 'encoding'>): string =>
  createHash('sha256').update(content, encoding).digest('hex');

// Decisions that outlive the head or the command.

/** A decision with the sides that it was made for. */
export interface KeptDecision {
  path: string;
  kind: Conflict['kind'];
  base: string | null;
  head: string | null;
  draft: string | null;
  decision: Decision;
}

export const keep = (conflicts: readonly Conflict[], decisions: Decisions): KeptDecision[] =>
  conflicts.flatMap(({ path, kind, base, head, draft }) => {
    const decision = decisions.get(path);
    return decision === undefined || decision === 'skip' ? [] : [{ path, kind, base, head, draft, decision }];
  });

/** The decisions whose sides are still the same. An own text may be what the draft has by now. */
export function stillValid(conflicts: readonly Conflict[], kept: readonly KeptDecision[]): Decisions {
  const byPath = new Map(kept.map((one) => [one.path, one]));
  return new Map(
    conflicts.flatMap((conflict) => {
      const was = byPath.get(conflict.path);
      return was && isSame(conflict, was) ? [[conflict.path, was.decision] as const] : [];
    }),
  );
}

function isSame(now: Conflict, was: KeptDecision): boolean {
  if (now.base !== was.base || now.head !== was.head) return false;
  const { decision } = was;
  if (typeof decision === 'object' && 'own' in decision && isWritten(now, decision.own)) return true;
  return now.draft === was.draft && now.kind === was.kind;
}
