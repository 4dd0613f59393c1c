/** A folder becomes a version of an app, and its head if it has none. Only what has changed is sent. */
import { HeadraceError } from '../errors.ts';
import { importArchive, importFiles, initializeHead } from './calls.ts';
import type { Client, Options, Source } from './calls.ts';
import { plan } from './plan.ts';
import type { Plan, PlanOptions } from './plan.ts';
import type { Skipped } from './scan.ts';
import { Sending } from './sending.ts';

export interface PushOptions extends PlanOptions {
  message?: string;
  /** Default true: an app without a head gets this version as its head. */
  initializeHead?: boolean;
  /** Of the import; made when left out. */
  idempotencyKey?: string;
}

/** The version with the folder's files: a new one, or the parent where nothing has changed. */
export interface PushedSource extends Source {
  sent: Plan['send'];
  /** Of contents, uncompressed. */
  bytesSent: number;
  skipped: Skipped[];
}

/** From this size on, all files go as tar.gz. */
const ARCHIVE_BYTES = 1024 * 1024;

/**
 * Throws HeadraceError `invalid_bundle` for what the service would refuse, before anything is sent, and
 * FolderChangedError for a file that changes meanwhile. A push that was cut off can be repeated: what it has done
 * already is not done again.
 */
export async function push(
  client: Client,
  appId: string,
  folder: string,
  options: PushOptions = {},
): Promise<PushedSource> {
  const planned = await plan(client, appId, folder, options);
  const { send: sent, bytesToSend, skipped, parent, headSourceId } = planned;
  const source = sent === 'nothing' ? parent! : await send(client, appId, planned, options);
  if (source.sha256 !== planned.sha256)
    throw new Error(`The service stored other files than were sent: ${source.id} has another SHA-256.`);
  if (headSourceId === null && options.initializeHead !== false)
    await initializeOnce(client, appId, source.id, { signal: options.signal });
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
    return importFiles(client, appId, { baseSourceId: parentSourceId!, changes, message }, call);
  }
  if (planned.byteSize < ARCHIVE_BYTES) {
    const files = await sending.files(signal);
    return importFiles(client, appId, { files, parentSourceId, message }, call);
  }
  // Each attempt of the call opens the archive again; a file that has changed ends them all.
  const archive = () => sending.archive((error) => failure.abort(error));
  return importArchive(client, appId, archive, { ...call, parentSourceId, message });
}

async function initializeOnce(
  client: Client,
  appId: string,
  sourceId: string,
  options: Options,
): Promise<void> {
  try {
    await initializeHead(client, appId, sourceId, options);
  } catch (error) {
    // Another push was first.
    if (!(error instanceof HeadraceError) || error.code !== 'head_already_initialized') throw error;
  }
}
