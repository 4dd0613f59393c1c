/** Messages that are not sent yet, in this browser: they outlive a reload, an ended session and a lost connection. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { notify } from '../../ui/notices.tsx';

export interface KeptFile {
  id: string;
  name: string;
  type: string;
  blob: Blob;
}
export interface KeptMessage {
  content: string;
  /** Null: the thread's own. */
  modelId: string | null;
  files: KeptFile[];
  /** The idempotency key of a send without an answer; another text has another one. */
  sendKey: string | null;
}

export const EMPTY: KeptMessage = { content: '', modelId: null, files: [], sendKey: null };

const STORE = 'messages';
/** Typed text is stored this late, or as the page goes. */
const STORE_AFTER_MS = 300;
let opened: Promise<IDBDatabase> | null = null;

function open(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('headrace-console', 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () =>
      reject(request.error ?? new Error('The storage cannot be opened.')),
    );
  });
  return opened;
}

/** Files are large, and text changes with each key: each has an entry of its own. */
const filesOf = (key: string) => `${key} files`;

async function read(key: string): Promise<KeptMessage> {
  const store = (await open()).transaction(STORE).objectStore(STORE);
  const [text, files] = await Promise.all([
    answerOf<Omit<KeptMessage, 'files'>>(store.get(key)),
    answerOf<KeptFile[]>(store.get(filesOf(key))),
  ]);
  return { ...EMPTY, ...text, files: files ?? [] };
}

const answerOf = <T>(request: IDBRequest): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result as T | undefined));
    request.addEventListener('error', () => reject(request.error ?? new Error('The text cannot be read.')));
  });

async function write(key: string, { files, ...text }: KeptMessage, withFiles: boolean): Promise<void> {
  const transaction = (await open()).transaction(STORE, 'readwrite');
  const store = transaction.objectStore(STORE);
  if (text.content === '' && files.length === 0) store.delete(key);
  else store.put(text, key);
  if (withFiles && files.length > 0) store.put(files, filesOf(key));
  else if (withFiles) store.delete(filesOf(key));
  // Not left to the page, which may be going.
  transaction.commit();
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new Error('The text cannot be stored.')),
    );
  });
}

let isFailureTold = false;

/** Once: each key that is typed may fail alike. */
function tellFailure(): void {
  if (isFailureTold) return;
  isFailureTold = true;
  notify('This browser does not keep the message: a reload would lose it.', 'fail');
}

export interface Kept {
  message: KeptMessage;
  /** False until the kept text is there. */
  isReady: boolean;
  /** Anything but `sendKey` makes it another message. */
  change: (part: Partial<KeptMessage>) => void;
  /** Changes the message that was sent under this key. One that was edited meanwhile stays. */
  settle: (sendKey: string, part: Partial<KeptMessage>) => void;
}

/** The unsent message of this key. Where there is no storage, it lives as long as the page. */
export function useKept(key: string): Kept {
  const [message, setMessage] = useState(EMPTY);
  const [isReady, setReady] = useState(false);
  const latest = useRef(EMPTY);
  useEffect(() => {
    let isHere = true;
    const show = (kept: KeptMessage) => {
      if (!isHere) return;
      latest.current = kept;
      setMessage(kept);
      setReady(true);
    };
    read(key).then(show, () => show(EMPTY));
    return () => {
      isHere = false;
    };
  }, [key]);
  const due = useRef<ReturnType<typeof setTimeout> | null>(null);
  const store = useCallback(
    (withFiles: boolean) => {
      if (due.current !== null) clearTimeout(due.current);
      due.current = null;
      write(key, latest.current, withFiles).catch(tellFailure);
    },
    [key],
  );
  useEffect(() => {
    const flush = () => {
      if (due.current !== null) store(false);
    };
    window.addEventListener('pagehide', flush);
    return () => {
      window.removeEventListener('pagehide', flush);
      flush();
    };
  }, [store]);
  const change = useCallback(
    (part: Partial<KeptMessage>) => {
      latest.current = { ...latest.current, sendKey: null, ...part };
      setMessage(latest.current);
      // A key and a choice are stored at once: a reload may follow.
      if (Object.keys(part).some((name) => name !== 'content')) store('files' in part);
      else due.current ??= setTimeout(() => store(false), STORE_AFTER_MS);
    },
    [store],
  );
  const settle = useCallback(
    (sendKey: string, part: Partial<KeptMessage>) => {
      if (latest.current.sendKey === sendKey) change(part);
    },
    [change],
  );
  return { message, isReady, change, settle };
}

/** As the API takes it. */
export function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve((reader.result as string).replace(/^[^,]*,/, '')));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read.')));
    reader.readAsDataURL(blob);
  });
}
