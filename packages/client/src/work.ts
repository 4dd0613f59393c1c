/** What `.done()` waits for. */
import type { Work } from './call.ts';
import type { Apply, Build, Execution, Preview, Run, Setup } from './generated/types.ts';
import { jsonWith } from './http.ts';
import type { Http } from './http.ts';

type Kind = Omit<Work<unknown, never>, 'of' | 'read'> & {
  /** `start`: the path of the call that started it. */
  path(work: never, start: string): string;
};

const MINUTES = 60_000;
const at = encodeURIComponent;
const PLATFORM = '/api/platform/v1/apps/';
/** Of an app or a project. */
const rootOf = (start: string) => (start.startsWith(PLATFORM) ? PLATFORM : '/api/projects/');
const isOneOf =
  <T extends string>(...ends: T[]) =>
  ({ status }: { status: string }) =>
    (ends as string[]).includes(status);

const KINDS: Readonly<Record<string, Kind>> = {
  run: {
    what: 'run',
    path: ({ id, threadId }: Run, start: string) => {
      const app = start.startsWith(PLATFORM) ? start.split('/').slice(0, 6).join('/') : '/api';
      return `${app}/threads/${at(threadId)}/runs/${at(id)}`;
    },
    isEnded: isOneOf<Run['status']>('completed', 'failed', 'cancelled'),
    timeoutMs: 15 * MINUTES,
  },
  apply: {
    what: 'apply',
    path: ({ id, projectId }: Apply, start: string) => `${rootOf(start)}${at(projectId)}/applies/${at(id)}`,
    isEnded: isOneOf<Apply['status']>('applied', 'conflicted', 'failed'),
    // A repair may take 15 minutes.
    timeoutMs: 20 * MINUTES,
  },
  build: {
    what: 'build',
    path: ({ id, projectId }: Build, start: string) => `${rootOf(start)}${at(projectId)}/builds/${at(id)}`,
    isEnded: isOneOf<Build['status']>('ready', 'failed'),
    timeoutMs: 15 * MINUTES,
  },
  setup: {
    what: 'setup',
    path: ({ id, projectId }: Setup, start: string) => `${rootOf(start)}${at(projectId)}/setups/${at(id)}`,
    isEnded: isOneOf<Setup['status']>('ready', 'failed'),
    timeoutMs: 15 * MINUTES,
  },
  preview: {
    what: 'preview',
    path: ({ id, projectId }: Preview, start: string) =>
      `${rootOf(start)}${at(projectId)}/previews/${at(id)}`,
    isEnded: isOneOf<Preview['status']>('ready', 'failed', 'stopped'),
    timeoutMs: 15 * MINUTES,
  },
  execution: {
    what: 'execution',
    path: ({ id, automationId }: Execution) => `/api/automations/${at(automationId)}/executions/${at(id)}`,
    isEnded: isOneOf<Execution['status']>('completed', 'failed', 'cancelled', 'skipped'),
    timeoutMs: 15 * MINUTES,
  },
};

/** Of a member of an answer; undefined for one that is not work. `start`: the path of the call. */
export function workOf(
  http: Http,
  member: string,
  start: string,
): Omit<Work<unknown, unknown>, 'of'> | undefined {
  // An apply's preview has the same name as a preview.
  const kind = start.endsWith('/apply/preview') ? undefined : KINDS[member];
  if (!kind) return undefined;
  return {
    ...kind,
    read: async (work, waitSeconds, options) => {
      const path = kind.path(work as never, start);
      // The work continues while the service cannot be reached: only the timeout of the wait ends the attempts.
      const request = { method: 'GET', path, query: { waitSeconds }, attempts: Infinity, ...options };
      const { data } = await http.send(request, jsonWith<Record<string, unknown>>(member));
      return data[member];
    },
  };
}
