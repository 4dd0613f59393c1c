/**
 * The core of the Platform API, typed: an app's sources and head, threads and their runs, applies, builds,
 * previews, events.
 */
import { randomUUID } from 'node:crypto';
import { createEvents } from './events.ts';
import { createHttp } from './http.ts';
import type { CallOptions, ClientOptions, Http, Query } from './http.ts';
import type {
  App,
  Apply,
  ApplyDecision,
  ApplyPreview,
  Build,
  BuildInput,
  Change,
  Diff,
  Exec,
  FileInput,
  Head,
  Logs,
  Manifest,
  Message,
  Page,
  Preview,
  Run,
  Source,
  SourceFile,
  SourceFileContent,
  Thread,
  Tool,
  Warning,
} from './types.ts';
import { waitUntil } from './wait.ts';
import type { WaitOptions } from './wait.ts';

export type Client = ReturnType<typeof createClient>;

export interface PageOptions extends CallOptions {
  cursor?: string;
  /** 1-200, default 50. */
  limit?: number;
}

/** An exec may take ten minutes; queueing and capturing may take two more. */
const EXEC_MARGIN_MS = 150_000;
const DOWNLOAD_MS = 10 * 60_000;
const RUN_ENDS: readonly string[] = ['completed', 'failed', 'cancelled'];

/** Calls throw HeadraceError. Each write generates an Idempotency-Key and keeps it over retries. */
export function createClient(options: ClientOptions) {
  const http = createHttp(options);
  return {
    apps: appCalls(http),
    sources: sourceCalls(http),
    head: headCalls(http),
    threads: threadCalls(http),
    runs: runCalls(http),
    applies: applyCalls(http),
    builds: buildCalls(http),
    previews: previewCalls(http),
    events: createEvents(http),
  };
}

const ROOT = '/api/platform/v1/apps';
const at = (...segments: string[]) => segments.map((s) => `/${encodeURIComponent(s)}`).join('');
const appPath = (appId: string, ...segments: string[]) => ROOT + at(appId, ...segments);
const threadPath = (appId: string, threadId: string, ...segments: string[]) =>
  appPath(appId, 'threads', threadId, ...segments);

async function page<T>(
  http: Http,
  path: string,
  plural: string,
  { cursor, limit, query, ...options }: PageOptions & { query?: Query } = {},
): Promise<Page<T>> {
  const answer = await http.json<{ nextCursor: string | null; hasMore: boolean } & Record<string, unknown>>(
    'GET',
    path,
    { ...options, query: { ...query, cursor, limit } },
  );
  return { items: answer[plural] as T[], nextCursor: answer.nextCursor, hasMore: answer.hasMore };
}

/** Every item of a list, page by page: `for await (const app of eachItem((o) => client.apps.list(o)))`. */
export async function* eachItem<T>(
  read: (options: { cursor?: string }) => Promise<Page<T>>,
): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { items, nextCursor } = await read(cursor === undefined ? {} : { cursor });
    yield* items;
    cursor = nextCursor;
  }
}

function appCalls(http: Http) {
  return {
    create: async (
      body: { name: string; externalId?: string; metadata?: Record<string, string> },
      o: CallOptions = {},
    ) => (await http.json<{ app: App }>('POST', ROOT, { ...o, body })).app,
    get: async (appId: string, o: CallOptions = {}) =>
      (await http.json<{ app: App }>('GET', appPath(appId), o)).app,
    list: (o: PageOptions & { externalId?: string } = {}) =>
      page<App>(http, ROOT, 'apps', withQuery(o, 'externalId')),
    update: async (
      appId: string,
      body: {
        name?: string;
        externalId?: string | null;
        metadata?: Record<string, string>;
        expectedVersion?: number;
      },
      o: CallOptions = {},
    ) => (await http.json<{ app: App }>('PATCH', appPath(appId), { ...o, body })).app,
    delete: async (appId: string, o: CallOptions = {}) =>
      (await http.json<{ app: App }>('DELETE', appPath(appId), o)).app,
  };
}

function sourceCalls(http: Http) {
  return {
    import: async (
      appId: string,
      body: { files: FileInput[]; parentSourceId?: string; message?: string },
      o: CallOptions = {},
    ) =>
      (
        await http.json<{ source: Source }>('POST', appPath(appId, 'sources'), {
          ...o,
          body,
          limitMs: DOWNLOAD_MS,
        })
      ).source,
    /**
     * `archive`: a tar.gz of at most 64 MiB. `links`: what becomes of symbolic links in it, `refuse` when left
     * out. `warnings` name what was left out.
     */
    importArchive: (
      appId: string,
      archive: Uint8Array,
      {
        parentSourceId,
        message,
        links,
        ...o
      }: CallOptions & {
        parentSourceId?: string;
        message?: string;
        links?: 'refuse' | 'skip' | 'follow';
      } = {},
    ) =>
      http.json<{ source: Source; warnings: Warning[] }>('POST', appPath(appId, 'sources'), {
        ...o,
        query: { parentSourceId, message, links },
        body: archive,
        contentType: 'application/gzip',
        limitMs: DOWNLOAD_MS,
      }),
    get: async (appId: string, sourceId: string, o: CallOptions = {}) =>
      (await http.json<{ source: Source }>('GET', appPath(appId, 'sources', sourceId), o)).source,
    list: (appId: string, o: PageOptions = {}) => page<Source>(http, appPath(appId, 'sources'), 'sources', o),
    files: (appId: string, sourceId: string, o: PageOptions & { prefix?: string } = {}) =>
      page<SourceFile>(http, appPath(appId, 'sources', sourceId, 'files'), 'files', withQuery(o, 'prefix')),
    file: async (appId: string, sourceId: string, path: string, o: CallOptions = {}) =>
      (
        await http.json<{ file: SourceFileContent }>('GET', appPath(appId, 'sources', sourceId, 'file'), {
          ...o,
          query: { path },
        })
      ).file,
    /** A tar.gz that depends on the files alone. */
    archive: (appId: string, sourceId: string, o: CallOptions = {}) =>
      http.bytes(appPath(appId, 'sources', sourceId, 'archive'), {
        ...o,
        headers: { accept: 'application/gzip' },
        limitMs: DOWNLOAD_MS,
      }),
    diff: async (appId: string, sourceId: string, base: string, o: CallOptions = {}) =>
      (
        await http.json<{ diff: Diff }>('GET', appPath(appId, 'sources', sourceId, 'diff'), {
          ...o,
          query: { base },
        })
      ).diff,
  };
}

function headCalls(http: Http) {
  return {
    initialize: async (appId: string, sourceId: string, o: CallOptions = {}) =>
      (
        await http.json<{ head: Head }>('POST', appPath(appId, 'source-head', 'initialize'), {
          ...o,
          body: { sourceId },
        })
      ).head,
    get: async (appId: string, o: CallOptions = {}) =>
      (await http.json<{ head: Head }>('GET', appPath(appId, 'source-head'), o)).head,
    history: (appId: string, o: PageOptions = {}) =>
      page<Head & { applyId: string | null }>(http, appPath(appId, 'source-head', 'history'), 'heads', o),
  };
}

interface NewThread {
  sourceId?: string;
  title?: string;
  modelId?: string;
  spendLimitMicros?: number;
  metadata?: Record<string, string>;
  message?: { content: string };
}
interface ThreadChange {
  archived?: boolean;
  status?: 'archived' | 'ready';
  title?: string | null;
  spendLimitMicros?: number | null;
  expectedVersion?: number;
  expectedTitleVersion?: number;
  expectedArchiveVersion?: number;
}

function threadCalls(http: Http) {
  return {
    /** `message` and `run` are present when a message was sent. */
    create: (appId: string, body: NewThread = {}, o: CallOptions = {}) =>
      http.json<{ thread: Thread; message?: Message; run?: Run }>('POST', appPath(appId, 'threads'), {
        ...o,
        body,
      }),
    get: async (appId: string, threadId: string, o: CallOptions = {}) =>
      (await http.json<{ thread: Thread }>('GET', threadPath(appId, threadId), o)).thread,
    list: (appId: string, o: PageOptions & { status?: Thread['status'] } = {}) =>
      page<Thread>(http, appPath(appId, 'threads'), 'threads', withQuery(o, 'status')),
    update: async (appId: string, threadId: string, body: ThreadChange, o: CallOptions = {}) =>
      (await http.json<{ thread: Thread }>('PATCH', threadPath(appId, threadId), { ...o, body })).thread,
    delete: async (appId: string, threadId: string, o: CallOptions = {}) =>
      (await http.json<{ thread: Thread }>('DELETE', threadPath(appId, threadId), o)).thread,
    send: (
      appId: string,
      threadId: string,
      body: { content: string; modelId?: string; attachments?: { mediaType: string; data: string }[] },
      o: CallOptions = {},
    ) =>
      http.json<{ message: Message; run?: Run }>('POST', threadPath(appId, threadId, 'messages'), {
        ...o,
        body,
      }),
    messages: (appId: string, threadId: string, o: PageOptions = {}) =>
      page<Message>(http, threadPath(appId, threadId, 'messages'), 'messages', o),
    edit: async (
      appId: string,
      threadId: string,
      body: { expectedSourceId: string; changes: Change[]; message?: string },
      o: CallOptions = {},
    ) =>
      (await http.json<{ source: Source }>('POST', threadPath(appId, threadId, 'edits'), { ...o, body }))
        .source,
    exec: async (
      appId: string,
      threadId: string,
      body: { command: string; timeoutSeconds?: number; stdin?: string },
      o: CallOptions = {},
    ) =>
      (
        await http.json<{ exec: Exec }>('POST', threadPath(appId, threadId, 'exec'), {
          ...o,
          body,
          limitMs: (body.timeoutSeconds ?? 60) * 1000 + EXEC_MARGIN_MS,
        })
      ).exec,
  };
}

function runCalls(http: Http) {
  const get = async (
    appId: string,
    threadId: string,
    runId: string,
    { waitSeconds, ...o }: CallOptions & { waitSeconds?: number } = {},
  ) =>
    (
      await http.json<{ run: Run }>('GET', threadPath(appId, threadId, 'runs', runId), {
        ...o,
        query: { waitSeconds },
      })
    ).run;
  return {
    get,
    list: (appId: string, threadId: string, o: PageOptions = {}) =>
      page<Run>(http, threadPath(appId, threadId, 'runs'), 'runs', o),
    tools: (appId: string, threadId: string, runId: string, o: PageOptions = {}) =>
      page<Tool>(http, threadPath(appId, threadId, 'runs', runId, 'tools'), 'tools', o),
    stop: async (appId: string, threadId: string, o: CallOptions = {}) =>
      (await http.json<{ run: Run }>('POST', threadPath(appId, threadId, 'stop'), { ...o, body: {} })).run,
    retry: async (appId: string, threadId: string, o: CallOptions = {}) =>
      (await http.json<{ run: Run }>('POST', threadPath(appId, threadId, 'retry'), { ...o, body: {} })).run,
    /** The ended run, whatever its outcome. */
    wait: (appId: string, threadId: string, runId: string, o?: WaitOptions) =>
      waitUntil(
        'The run',
        (waitSeconds, rest) => get(appId, threadId, runId, { ...rest, waitSeconds }),
        (run) => RUN_ENDS.includes(run.status),
        o,
      ),
  };
}

function applyCalls(http: Http) {
  const get = async (
    appId: string,
    applyId: string,
    { waitSeconds, ...o }: CallOptions & { waitSeconds?: number } = {},
  ) =>
    (
      await http.json<{ apply: Apply }>('GET', appPath(appId, 'applies', applyId), {
        ...o,
        query: { waitSeconds },
      })
    ).apply;
  return {
    get,
    create: async (
      appId: string,
      threadId: string,
      decision: ApplyDecision,
      { idempotencyKey = randomUUID(), ...o }: CallOptions = {},
    ) =>
      (
        await http.json<{ apply: Apply }>('POST', threadPath(appId, threadId, 'apply'), {
          ...o,
          idempotencyKey,
          body: { ...decision, clientOperationId: idempotencyKey },
        })
      ).apply,
    preview: async (appId: string, threadId: string, decision: ApplyDecision, o: CallOptions = {}) =>
      (
        await http.json<{ preview: ApplyPreview }>('POST', threadPath(appId, threadId, 'apply', 'preview'), {
          ...o,
          body: decision,
        })
      ).preview,
    list: (appId: string, o: PageOptions & { threadId?: string } = {}) =>
      page<Apply>(http, appPath(appId, 'applies'), 'applies', withQuery(o, 'threadId')),
    /** The ended apply, whatever its outcome. A repair may take 15 minutes. */
    wait: (appId: string, applyId: string, o?: WaitOptions) =>
      waitUntil(
        'The apply',
        (waitSeconds, rest) => get(appId, applyId, { ...rest, waitSeconds }),
        (apply) => apply.status !== 'queued',
        { timeoutMs: 20 * 60_000, ...o },
      ),
  };
}

function buildCalls(http: Http) {
  const get = async (
    appId: string,
    buildId: string,
    { waitSeconds, ...o }: CallOptions & { waitSeconds?: number } = {},
  ) =>
    (
      await http.json<{ build: Build }>('GET', appPath(appId, 'builds', buildId), {
        ...o,
        query: { waitSeconds },
      })
    ).build;
  return {
    get,
    create: async (appId: string, threadId: string, body: BuildInput, o: CallOptions = {}) =>
      (await http.json<{ build: Build }>('POST', threadPath(appId, threadId, 'builds'), { ...o, body }))
        .build,
    list: (appId: string, threadId: string, o: PageOptions = {}) =>
      page<Build>(http, threadPath(appId, threadId, 'builds'), 'builds', o),
    cancel: async (appId: string, buildId: string, o: CallOptions = {}) =>
      (
        await http.json<{ build: Build }>('POST', appPath(appId, 'builds', buildId, 'cancel'), {
          ...o,
          body: {},
        })
      ).build,
    wait: (appId: string, buildId: string, o?: WaitOptions) =>
      waitUntil(
        'The build',
        (waitSeconds, rest) => get(appId, buildId, { ...rest, waitSeconds }),
        (build) => build.status === 'ready' || build.status === 'failed',
        o,
      ),
    manifest: async (appId: string, buildId: string, o: CallOptions = {}) =>
      (await http.json<{ manifest: Manifest }>('GET', appPath(appId, 'builds', buildId, 'manifest'), o))
        .manifest,
    /** A tar.gz; `readArtifact` checks and opens it. */
    artifact: (appId: string, buildId: string, o: CallOptions = {}) =>
      http.bytes(appPath(appId, 'builds', buildId, 'artifact'), {
        ...o,
        headers: { accept: 'application/gzip' },
        limitMs: DOWNLOAD_MS,
      }),
    logs: async (appId: string, buildId: string, o: CallOptions = {}) =>
      (await http.json<{ logs: Logs }>('GET', appPath(appId, 'builds', buildId, 'logs'), o)).logs,
  };
}

function previewCalls(http: Http) {
  const get = async (
    appId: string,
    previewId: string,
    { waitSeconds, ...o }: CallOptions & { waitSeconds?: number } = {},
  ) =>
    (
      await http.json<{ preview: Preview }>('GET', appPath(appId, 'previews', previewId), {
        ...o,
        query: { waitSeconds },
      })
    ).preview;
  return {
    get,
    create: async (
      appId: string,
      threadId: string,
      body: { command: string; port: number },
      o: CallOptions = {},
    ) =>
      (await http.json<{ preview: Preview }>('POST', threadPath(appId, threadId, 'previews'), { ...o, body }))
        .preview,
    list: (appId: string, threadId: string, o: PageOptions = {}) =>
      page<Preview>(http, threadPath(appId, threadId, 'previews'), 'previews', o),
    stop: async (appId: string, previewId: string, o: CallOptions = {}) =>
      (await http.json<{ preview: Preview }>('DELETE', appPath(appId, 'previews', previewId), o)).preview,
    wait: (appId: string, previewId: string, o?: WaitOptions) =>
      waitUntil(
        'The preview',
        (waitSeconds, rest) => get(appId, previewId, { ...rest, waitSeconds }),
        (preview) => preview.status !== 'starting',
        o,
      ),
  };
}

/** The options of a list, with one of them moved into its query. */
function withQuery<O extends PageOptions, K extends keyof O & string>(options: O, name: K) {
  const { [name]: value, ...rest } = options;
  return { ...rest, query: { [name]: value } as Query };
}
