/** Finds the issue in a hook's payload. The fixtures are payloads from the senders' documentation. */
import type { HookSource, MappedIssue } from '../db/schema.ts';
import { compile } from '../http/validate.ts';
import { issueKey, IssueUrl, issueUrlFaults } from '../tasks/index.ts';
import { ErrorTrackerIssue } from '../threads/index.ts';
import { valueAt } from './template.ts';

export interface HookDefaults {
  organizationSlug?: string;
  projectSlug?: string;
  projectId?: string;
}

/** `key` is equal for hooks about the same issue. */
export type MappedHook =
  | { kind: 'filtered' | 'unmapped' }
  | { kind: 'mapped'; issue?: MappedIssue; key?: string };

/** The actions that mean work; an update or the end of an issue does not. */
const ACTIONS = new Set<unknown>(['created', 'triggered', 'unresolved', 'opened', 'create', 'labeled']);

/** Where each field is: the first path that is present. */
const ERROR_TRACKER = {
  issueId: ['data.issue.id', 'data.event.issue_id'],
  shortId: ['data.issue.shortId'],
  title: ['data.issue.title', 'data.event.title'],
  level: ['data.issue.level', 'data.event.level'],
  projectId: ['data.issue.project.id', 'data.event.project'],
  projectSlug: ['data.issue.project.slug'],
  url: ['data.issue.web_url', 'data.event.web_url'],
} as const;
/** The API's address of the issue or event, which names organization and project. */
const API_ADDRESS = ['data.issue.url', 'data.event.url'];
const TRACKER_URL = ['issue.html_url', 'data.url', 'issue.url', 'url'];
const OPTIONAL = new Set(['shortId', 'title', 'level']);
const MAX_TITLE = 500;

type Payload = Record<string, unknown>;

export function mapHook(source: HookSource, payload: Payload, defaults: HookDefaults = {}): MappedHook {
  if (source === 'generic') return { kind: 'mapped' };
  if (Object.hasOwn(payload, 'action') && !ACTIONS.has(payload.action)) return { kind: 'filtered' };
  return source === 'tracker' ? mapTracker(payload) : mapErrorTracker(payload, defaults);
}

const checkUrl = compile(IssueUrl, 'body');
const checkIssue = compile(ErrorTrackerIssue, 'body');

function mapTracker(payload: Payload): MappedHook {
  const url = firstText(payload, TRACKER_URL);
  if (url === undefined || checkUrl(url).length || issueUrlFaults('', url).length)
    return { kind: 'unmapped' };
  return { kind: 'mapped', issue: { trackerIssueUrl: url }, key: issueKey(url) };
}

function mapErrorTracker(payload: Payload, defaults: HookDefaults): MappedHook {
  const found = Object.fromEntries(
    Object.entries(ERROR_TRACKER).map(([name, paths]) => [name, firstText(payload, paths)]),
  ) as Record<keyof typeof ERROR_TRACKER, string | undefined>;
  const named = slugsOf(firstText(payload, API_ADDRESS) ?? '');
  const issue: Record<string, string | undefined> = {
    ...found,
    title: found.title && [...found.title].slice(0, MAX_TITLE).join(''),
    projectId: found.projectId ?? defaults.projectId,
    projectSlug: found.projectSlug ?? named.projectSlug ?? defaults.projectSlug,
    organizationSlug: named.organizationSlug ?? defaults.organizationSlug,
  };
  for (const [name, value] of Object.entries(issue)) if (value === undefined) delete issue[name];
  for (const { path } of [...checkIssue(issue), ...issueUrlFaults('/url', issue.url)]) {
    const name = path.slice(1);
    if (!OPTIONAL.has(name)) return { kind: 'unmapped' };
    delete issue[name];
  }
  return { kind: 'mapped', issue: { errorTrackerIssue: issue }, key: issue.issueId! };
}

/** Ids are numbers or strings; the result is a string. */
function firstText(payload: Payload, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = valueAt({ payload }, ['payload', ...path.split('.')]);
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

function slugsOf(address: string): { organizationSlug?: string; projectSlug?: string } {
  const [, ofProject, projectSlug] = /\/projects\/([^/?#]+)\/([^/?#]+)\//.exec(address) ?? [];
  if (ofProject !== undefined) return { organizationSlug: ofProject, projectSlug };
  const [, organizationSlug] = /\/organizations\/([^/?#]+)\//.exec(address) ?? [];
  return { organizationSlug };
}
