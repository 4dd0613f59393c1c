/** Pushes a folder as a version of an app, and as its head if it has none. Sends only what has changed. */
import type { Client } from '../client.ts';
import { isCode } from '../errors.ts';
import type { Source } from '../generated/types.ts';
import { plan } from './plan.ts';
import type { Plan, PlanOptions } from './plan.ts';
import type { Skipped } from './scan.ts';
import { Sending } from './sending.ts';

export interface PushOptions extends PlanOptions {
  message?: string;
  /** Default true: an app without a head gets this version as its head. */
  initializeHead?: boolean;
  /** The key of the import; generated when omitted. */
  idempotencyKey?: string;
}

/** The version with the folder's files: a new one, or the parent if nothing has changed. */
export interface PushedSource extends Source {
  sent: Plan['send'];
  /** Of contents, uncompressed. */
  bytesSent: number;
  skipped: Skipped[];
}

/** From this size on, all files go as tar.gz. */
const ARCHIVE_BYTES = 1024 * 1024;

/**
 * `folder`: its path, or what `plan` has found in it. Throws HeadraceError `invalid_bundle` for what the service
 * would refuse, before anything is sent, and FolderChangedError for a file that changes meanwhile. An interrupted
 * push can be repeated: finished steps are not done again.
 */
export async function push(
  client: Client,
  appId: string,
  folder: string | Plan,
  options: PushOptions = {},
): Promise<PushedSource> {
  const planned = typeof folder === 'string' ? await plan(client, appId, folder, options) : folder;
  const { send: sent, bytesToSend, skipped, parent, headSourceId } = planned;
  const source = sent === 'nothing' ? parent! : await send(client, appId, planned, options);
  if (source.sha256 !== planned.sha256)
    throw new Error(`The service stored different files than were sent: ${source.id} has another SHA-256.`);
  if (headSourceId === null && options.initializeHead !== false)
    await initializeHead(client, appId, source.id, options.signal);
  return { ...source, sent, bytesSent: bytesToSend, skipped };
}

async function send(client: Client, appId: string, planned: Plan, options: PushOptions): Promise<Source> {
  const { message, idempotencyKey, onProgress } = options;
  const failure = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, failure.signal]) : failure.signal;
  const call = { signal, idempotencyKey };
  const sending = new Sending(planned, onProgress);
  const parentSourceId = planned.parent?.id;
  if (planned.send === 'changes') {
    const changes = await sending.changes(signal);
    return (await client.sources.import(appId, { baseSourceId: parentSourceId!, changes, message }, call))
      .source;
  }
  if (planned.byteSize < ARCHIVE_BYTES) {
    const files = await sending.files(signal);
    return (await client.sources.import(appId, { files, parentSourceId, message }, call)).source;
  }
  // Each attempt of the call opens the archive again; a changed file ends all attempts.
  const archive = () => sending.archive((error) => failure.abort(error));
  return (await client.sources.import(appId, archive, { ...call, parentSourceId, message })).source;
}

async function initializeHead(
  client: Client,
  appId: string,
  sourceId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await client.head.initialize(appId, { sourceId }, { signal });
  } catch (error) {
    // Another push was first.
    if (!isCode(error, 'head_already_initialized')) throw error;
  }
}
