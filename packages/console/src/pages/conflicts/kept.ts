/**
 * Decisions and texts that are not applied yet, in the browser: they outlive a reload, an expired session and a head
 * that moves. Where the browser keeps nothing, they live as long as the page.
 */
import { serviceNow } from '../../api/clock.ts';
import type { Choice, Entries, Entry, Own } from './decisions.ts';

const DATABASE = 'headrace-conflicts';
const STORE = 'decisions';
const LIFE_MS = 60 * 24 * 60 * 60_000;

interface Kept {
  at: number;
  entries: Entry[];
}

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('No database.')));
  });
  return opened;
}

async function run<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    const fail = () => reject(transaction.error ?? new Error('Not kept.'));
    // A request that succeeds may still not be kept, as where the disk is full.
    transaction.addEventListener('complete', () => resolve(request.result));
    transaction.addEventListener('abort', fail);
    transaction.addEventListener('error', fail);
  });
}

/** Decisions are one user's, on one thread's draft. */
export const keptName = (userId: string, threadId: string): string => `${userId}:${threadId}`;

export async function readKept(name: string): Promise<Entries> {
  try {
    const kept: unknown = await run('readonly', (store) => store.get(name) as IDBRequest<unknown>);
    return new Map(entriesIn(kept).map((entry) => [entry.path, entry]));
  } catch {
    return new Map();
  }
}

/** False if the browser keeps nothing. Without decisions, nothing is kept. */
export async function writeKept(name: string, entries: Entries): Promise<boolean> {
  const said = [...entries.values()].filter(({ choice, own, isMoved }) => choice || own || isMoved);
  try {
    if (said.length === 0) await run('readwrite', (store) => store.delete(name));
    else
      await run('readwrite', (store) => store.put({ at: serviceNow(), entries: said } satisfies Kept, name));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has none
    toOtherTabs().postMessage(name);
    return true;
  } catch {
    return false;
  }
}

let channel: BroadcastChannel | undefined;
const toOtherTabs = () => (channel ??= new BroadcastChannel(DATABASE));

/** Calls `then` after another tab has written there; not after this one has. */
export function onWritten(name: string, then: () => void): () => void {
  const hear = ({ data }: MessageEvent<unknown>) => data === name && then();
  const from = toOtherTabs();
  from.addEventListener('message', hear);
  return () => from.removeEventListener('message', hear);
}

/** What another version of this page has written there counts for nothing. */
export function entriesIn(kept: unknown): Entry[] {
  if (!isRecord(kept) || typeof kept['at'] !== 'number' || !Array.isArray(kept['entries'])) return [];
  return serviceNow() - kept['at'] > LIFE_MS ? [] : kept['entries'].filter(isEntry);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);
const CHOICES: ReadonlySet<unknown> = new Set([
  null,
  'head',
  'draft',
  'text',
  'rename',
] satisfies (Choice | null)[]);

const isEntry = (value: unknown): value is Entry =>
  isRecord(value) &&
  isText(value['path']) &&
  isText(value['kind']) &&
  isTextOrNull(value['base']) &&
  isTextOrNull(value['head']) &&
  isTextOrNull(value['draft']) &&
  isTextOrNull(value['to']) &&
  CHOICES.has(value['choice']) &&
  (value['own'] === null || isOwn(value['own']));

const isOwn = (value: unknown): value is Own =>
  isRecord(value) &&
  isText(value['content']) &&
  typeof value['left'] === 'number' &&
  Array.isArray(value['regions']);
