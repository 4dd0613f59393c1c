/**
 * Settings as a form: text and words, each empty where the app has no setting of its own. What was typed becomes a
 * change of only the fields that differ from what is stored.
 */
import type { Settings, UpdateAppSettingsInput } from '@headrace/client';
import { linesOf, setupDraftOf, setupOf, wrongInSetup } from './setup-draft.ts';
import type { SetupDraft } from './setup-draft.ts';

export interface Rule {
  tool: string;
  pattern: string;
  decision: string;
}

/** `own`: whether the app has a setting of its own where an empty one differs from none. */
export interface Draft {
  instructions: string;
  modelId: string;
  idleTimeoutMinutes: string;
  runtime: string;
  setup: SetupDraft;
  /** In dollars. */
  spendLimit: string;
  budget: string;
  approvals: { own: boolean; rules: Rule[] };
  egress: { mode: string; hosts: string };
  runs: string;
  builds: string;
  /** One in a line. */
  frameAncestors: { own: boolean; lines: string };
  pullRequestDraft: string;
  loopEnabled: string;
  loopMerge: string;
  loopPasses: string;
  loopMethod: string;
  loopReply: string;
  loopInstructions: string;
}

export type Part = keyof Settings;
/** What is wrong with what was typed, by the parts of the form. */
export type Wrong = Partial<Record<keyof Draft, string>>;

const text = (value: number | string | null | undefined) => (value === null ? '' : String(value ?? ''));
const yesNo = (value: boolean | null | undefined) => (value === true ? 'yes' : value === false ? 'no' : '');
export const inDollars = (micros: number | null) => (micros === null ? '' : String(micros / 1e6));

export function draftOf(settings: Settings): Draft {
  const { approvals, egress, concurrency, preview, pullRequests, reviewLoop } = settings;
  return {
    instructions: text(settings.instructions),
    modelId: text(settings.modelId),
    idleTimeoutMinutes: text(settings.idleTimeoutMinutes),
    runtime: text(settings.runtime),
    setup: setupDraftOf(settings.setup),
    spendLimit: inDollars(settings.spendLimitMicros),
    budget: inDollars(settings.budgetMicros),
    approvals: {
      own: approvals !== null,
      rules: (approvals ?? []).map(({ tool, pattern = '', decision }) => ({ tool, pattern, decision })),
    },
    egress: { mode: egress?.mode ?? '', hosts: (egress?.hosts ?? []).join('\n') },
    runs: text(concurrency?.runs),
    builds: text(concurrency?.builds),
    frameAncestors: { own: preview !== null, lines: (preview?.frameAncestors ?? []).join('\n') },
    pullRequestDraft: yesNo(pullRequests?.draft),
    loopEnabled: yesNo(reviewLoop?.enabled),
    loopMerge: yesNo(reviewLoop?.autoMerge),
    loopPasses: text(reviewLoop?.maxPasses),
    loopMethod: text(reviewLoop?.mergeMethod),
    loopReply: yesNo(reviewLoop?.reply),
    loopInstructions: text(reviewLoop?.instructions),
  };
}

const numberOf = (value: string) => (value.trim() === '' ? null : Number(value));
const flagOf = (value: string) => (value === '' ? null : value === 'yes');
/** Money is whole micros. */
export const microsOf = (value: string) => (value.trim() === '' ? null : Math.round(Number(value) * 1e6));
/** An object whose every field is empty is none at all. */
const orNull = <T extends object>(value: T): T | null =>
  Object.values(value).every((one) => one === null) ? null : value;

/** What the form says as a whole. */
function settingsOf(draft: Draft): Required<UpdateAppSettingsInput> {
  const { approvals, egress, frameAncestors } = draft;
  return {
    instructions: draft.instructions.trim() === '' ? null : draft.instructions,
    modelId: draft.modelId || null,
    idleTimeoutMinutes: numberOf(draft.idleTimeoutMinutes),
    runtime: draft.runtime || null,
    setup: setupOf(draft.setup),
    spendLimitMicros: microsOf(draft.spendLimit),
    budgetMicros: microsOf(draft.budget),
    approvals: approvals.own
      ? approvals.rules.map(({ tool, pattern, decision }) => ({
          tool: tool.trim(),
          ...(pattern && { pattern }),
          decision: decision as 'ask',
        }))
      : null,
    egress: egress.mode ? { mode: egress.mode as 'none', hosts: linesOf(egress.hosts) } : null,
    concurrency: orNull({ runs: numberOf(draft.runs), builds: numberOf(draft.builds) }),
    preview: frameAncestors.own ? { frameAncestors: linesOf(frameAncestors.lines) } : null,
    pullRequests: orNull({ draft: flagOf(draft.pullRequestDraft) }),
    reviewLoop: orNull({
      enabled: flagOf(draft.loopEnabled),
      autoMerge: flagOf(draft.loopMerge),
      maxPasses: numberOf(draft.loopPasses),
      mergeMethod: (draft.loopMethod || null) as 'merge' | null,
      instructions: draft.loopInstructions || null,
      reply: flagOf(draft.loopReply),
    }),
  };
}

/** Only what differs from what the form showed at first; an object is replaced whole. */
export function changesOf(stored: Settings, draft: Draft): UpdateAppSettingsInput {
  const before: Record<string, unknown> = { ...settingsOf(draftOf(stored)) };
  const after = Object.entries(settingsOf(draft));
  return Object.fromEntries(
    after.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

const WHOLE = /^\d+$/;
export const MONEY = /^\d+(\.\d{1,6})?$/;

/** Faults that need no service to be seen. */
export function wrongIn(draft: Draft): Wrong {
  const wrong: Wrong = {};
  const whole = (name: 'idleTimeoutMinutes' | 'runs' | 'builds' | 'loopPasses', most: number) => {
    const value = draft[name].trim();
    if (value !== '' && !(WHOLE.test(value) && Number(value) >= 1 && Number(value) <= most))
      wrong[name] = `A whole number from 1 to ${most}, or nothing.`;
  };
  whole('idleTimeoutMinutes', 60);
  whole('runs', 1000);
  whole('builds', 1000);
  whole('loopPasses', 20);
  for (const name of ['spendLimit', 'budget'] as const)
    if (draft[name].trim() !== '' && !MONEY.test(draft[name].trim()))
      wrong[name] = 'An amount in dollars, such as 12.50, or nothing.';
  if (draft.egress.mode === 'list' && linesOf(draft.egress.hosts).length === 0)
    wrong.egress = 'Name a host, or choose another.';
  if (draft.approvals.own && draft.approvals.rules.some(({ tool }) => tool.trim() === ''))
    wrong.approvals = 'Each rule names a tool.';
  const inSetup = Object.values(wrongInSetup(draft.setup))[0];
  if (inSetup) wrong.setup = inSetup;
  return wrong;
}

/** The text of what is wrong at a JSON pointer or below it. In a list, the item is named. */
export function faultAt(
  fields: readonly { path: string; message: string }[],
  pointer: string,
  items: readonly string[] = [],
): string | null {
  const said = fields
    .filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`))
    .map(({ path, message }) => {
      const index = /^\d+/.exec(path.slice(pointer.length + 1))?.[0];
      const item = index === undefined ? undefined : items[Number(index)];
      return item === undefined ? message : `${item}: ${message}`;
    });
  return said.length > 0 ? said.join('; ') : null;
}

/** The lines of a list as they are sent. */
export const hostsOf = (draft: Draft): string[] => linesOf(draft.egress.hosts);
export const ancestorsOf = (draft: Draft): string[] => linesOf(draft.frameAncestors.lines);
