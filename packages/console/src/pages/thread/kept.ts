/** Messages that are not sent yet, in this browser: they outlive a reload, an ended session and a lost connection. */
import { useCallback, useEffect, useRef, useState } from 'react';

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

async function read(key: string): Promise<KeptMessage | null> {
  const request = (await open()).transaction(STORE).objectStore(STORE).get(key);
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve((request.result as KeptMessage | undefined) ?? null));
    request.addEventListener('error', () => reject(request.error ?? new Error('The text cannot be read.')));
  });
}

async function write(key: string, message: KeptMessage): Promise<void> {
  const store = (await open()).transaction(STORE, 'readwrite').objectStore(STORE);
  if (message.content === '' && message.files.length === 0) store.delete(key);
  else store.put(message, key);
}

export interface Kept {
  message: KeptMessage;
  /** False until the kept text is there. */
  isReady: boolean;
  /** Anything but `sendKey` makes it another message. */
  change: (part: Partial<KeptMessage>) => void;
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
    read(key).then(
      (kept) => show(kept ?? EMPTY),
      () => show(EMPTY),
    );
    return () => {
      isHere = false;
    };
  }, [key]);
  const change = useCallback(
    (part: Partial<KeptMessage>) => {
      latest.current = { ...latest.current, sendKey: null, ...part };
      setMessage(latest.current);
      write(key, latest.current).catch(() => {});
    },
    [key],
  );
  return { message, isReady, change };
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
