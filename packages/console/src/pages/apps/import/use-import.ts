/** An import from the drop of a folder to the stored source: read, shown, packed, sent. */
import { isCode } from '@headrace/client';
import type { Source } from '@headrace/client';
import { useEffect, useRef, useState } from 'react';
import { uploadClient } from '../../../api/client.ts';
import { writeFaultOf } from '../../../api/faults.ts';
import type { Fault } from '../../../api/faults.ts';
import { once } from '../../../api/write.ts';
import { notify } from '../../../ui/notices.tsx';
import { plural } from '../../../ui/values.tsx';
import { tarGz } from './archive.ts';
import type { Entry } from './entries.ts';
import { faultsByPath } from './faults.ts';
import type { PathFault } from './faults.ts';
import { scanEntries } from './scan.ts';
import type { Scan } from './scan.ts';

/** As the service. */
export const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
/** A slow line needs its time. */
const SEND_TIMEOUT_MS = 15 * 60_000;
const ARCHIVE = /\.(tar\.gz|tgz)$/i;

/** What is to be imported. */
export type Content =
  | { kind: 'files'; name: string; entries: readonly Entry[]; taken: ReadonlySet<string>; scan: Scan }
  | { kind: 'archive'; file: File; links: Links };

/** What becomes of an archive's symbolic links; a browser shows none. */
export type Links = 'refuse' | 'skip' | 'follow';

export type Stage =
  | { is: 'idle' }
  | { is: 'reading'; files: number }
  | { is: 'packing'; files: number; of: number }
  | { is: 'sending'; bytes: number; of: number };

export interface Refusal {
  fault: Fault;
  /** Of an `invalid_bundle`. */
  paths: PathFault[];
}

export interface ImportOptions {
  appId: string;
  parentSourceId: string | null;
  onImported: (source: Source) => void | Promise<void>;
}

const IDLE: Stage = { is: 'idle' };

export function useImport({ appId, parentSourceId, onImported }: ImportOptions) {
  const [content, setContent] = useState<Content | null>(null);
  const [stage, setStage] = useState<Stage>(IDLE);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  /** Runs one step at a time; a newer one ends the one before. */
  const run = async (step: (signal: AbortSignal) => Promise<void>) => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    setRefusal(null);
    try {
      await step(own.signal);
    } catch (error) {
      if (!own.signal.aborted) setRefusal(refusalOf(error, content));
    }
    if (running.current !== own) return;
    running.current = null;
    setStage(IDLE);
  };

  const readEntries = (entries: readonly Entry[], taken: ReadonlySet<string>) =>
    run(async (signal) => {
      const [first] = entries;
      const only = entries.length === 1 ? first : undefined;
      if (only?.kind === 'file' && ARCHIVE.test(only.name))
        return setContent({ kind: 'archive', file: await only.file(), links: 'refuse' });
      setStage({ is: 'reading', files: 0 });
      const top = only?.kind === 'folder' ? await only.entries() : entries;
      const onFile = everyFrame((files: number) => setStage({ is: 'reading', files }));
      const scan = await scanEntries(top, { taken, signal, onFile });
      if (signal.aborted) return;
      setContent({ kind: 'files', name: first?.name ?? '', entries, taken, scan });
    });

  const send = (message: string) =>
    run(async (signal) => {
      if (!content) return;
      const body = await bodyOf(content, signal, setStage);
      const of = body.size;
      setStage({ is: 'sending', bytes: 0, of });
      const onSent = everyFrame((bytes: number) => setStage({ is: 'sending', bytes, of }));
      const intent = `import ${JSON.stringify([appId, parentSourceId, message, printOf(content)])}`;
      const { source, warnings } = await once(intent, (options) =>
        uploadClient(onSent).sources.import(appId, body, {
          ...options,
          signal,
          timeoutMs: SEND_TIMEOUT_MS,
          attemptTimeoutMs: SEND_TIMEOUT_MS,
          ...(message && { message }),
          ...(parentSourceId && { parentSourceId }),
          ...(content.kind === 'archive' && { links: content.links }),
        }),
      );
      if (warnings.length > 0) notify(`${plural(warnings.length, 'link')} left out.`);
      await onImported(source);
    });

  return {
    content,
    stage,
    refusal,
    choose: (entries: readonly Entry[]) => void readEntries(entries, new Set()),
    /** Takes in what was left out, or leaves it out again. */
    take(path: string, isTaken: boolean): void {
      if (content?.kind !== 'files') return;
      const taken = new Set(content.taken);
      if (isTaken) taken.add(path);
      else taken.delete(path);
      void readEntries(content.entries, taken);
    },
    setLinks(links: Links): void {
      if (content?.kind === 'archive') setContent({ ...content, links });
    },
    send: (message: string) => void send(message),
    cancel(): void {
      running.current?.abort();
    },
    clear(): void {
      running.current?.abort();
      setContent(null);
      setRefusal(null);
    },
  };
}

export type Import = ReturnType<typeof useImport>;

function bodyOf(content: Content, signal: AbortSignal, setStage: (stage: Stage) => void): Promise<Blob> {
  if (content.kind === 'archive') return Promise.resolve(content.file);
  const { files } = content.scan;
  const of = files.length;
  setStage({ is: 'packing', files: 0, of });
  return tarGz(files, {
    signal,
    onFile: everyFrame((count) => setStage({ is: 'packing', files: count, of })),
  });
}

/** What names the content: sent again after a reload, the same files are the same write. */
function printOf(content: Content): unknown {
  if (content.kind === 'archive') {
    const { file, links } = content;
    return [file.name, file.size, file.lastModified, links];
  }
  return content.scan.files.map(({ path, file }) => [path, file.size, file.lastModified]);
}

function refusalOf(error: unknown, content: Content | null): Refusal {
  const fault = writeFaultOf(error);
  const paths = content?.kind === 'files' ? content.scan.files.map(({ path }) => path) : null;
  return { fault, paths: isCode(error, 'invalid_bundle') ? faultsByPath(fault.fields, paths) : [] };
}

const FRAME_MS = 50;

/** Thousands of steps a second are not thousands of renderings. */
function everyFrame(show: (value: number) => void): (value: number) => void {
  let at = 0;
  return (value) => {
    const now = performance.now();
    if (now - at < FRAME_MS) return;
    at = now;
    show(value);
  };
}
