/** Starts the thread of one step of a repacking and answers its questions. */
import { Worker } from 'node:worker_threads';
import { asBuffer } from '../../buffers.ts';
import type { Packed } from '../import/pool.ts';
import type { FromThread, Manifests, RepackWork } from './protocol.ts';

/** Far beyond the largest repacking (a second for 100 MB of contents). */
const LIMIT_MS = 5 * 60_000;
const MAX_HEAP_MIB = 512;

/** A content of a pack is missing or not what its hash says. */
export class RepackDamage extends Error {
  override readonly name = 'RepackDamage';
}

/**
 * Runs one step in a separate thread: imports do not wait for it. Buffers in `transfer` are handed over.
 * `nextManifests` answers with none when there are no more. Throws `RepackDamage`; rejects also when `signal`
 * is aborted.
 */
export function runRepackThread(
  work: RepackWork,
  transfer: ArrayBuffer[],
  signal: AbortSignal,
  nextManifests: () => Promise<Uint8Array[]>,
): Promise<Packed | null> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./repack.worker.ts', import.meta.url), {
      workerData: work,
      transferList: transfer,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
      name: 'repack',
    });
    const timer = setTimeout(
      () => end(() => reject(new Error(`repacking took longer than ${LIMIT_MS} ms`))),
      LIMIT_MS,
    );
    const aborted = () => end(() => reject(signal.reason));
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      void worker.terminate();
      settle();
    };
    const answer = async () => {
      try {
        const manifests: Manifests = { manifests: await nextManifests() };
        worker.postMessage(manifests, []);
      } catch (error) {
        end(() => reject(error));
      }
    };
    signal.addEventListener('abort', aborted);
    worker.on('error', (error) => end(() => reject(error)));
    worker.on('exit', () => end(() => reject(new Error('the thread of the repacking ended'))));
    worker.on('message', (message: FromThread) => {
      if ('more' in message) void answer();
      else if ('error' in message)
        end(() => reject(message.isDamage ? new RepackDamage(message.error) : new Error(message.error)));
      else
        end(() =>
          resolve(
            message.packed && {
              bytes: asBuffer(message.packed.bytes),
              index: asBuffer(message.packed.index),
            },
          ),
        );
    });
    if (signal.aborted) aborted();
  });
}
