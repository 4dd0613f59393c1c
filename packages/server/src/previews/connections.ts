import type { Duplex } from 'node:stream';
import { RunnerError } from '@headrace/runner/client';
import type { Context } from '../context.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { atRunner } from '../runner/at-runner.ts';
import { PreviewFinder } from './find-preview.ts';
import type { Shown } from './find-preview.ts';

/** Connections that one preview may have through this process. */
const MAX_OPEN = 256;

/** A connection to a preview's server, inside of its sandbox. */
export interface Connection {
  preview: Shown;
  upstream: Duplex;
}

/** Connects visitors to previews, and counts their connections. */
export class Connections {
  readonly #ctx: Context;
  readonly #previews: PreviewFinder;
  readonly #open = new Map<string, number>();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#previews = new PreviewFinder(ctx);
  }

  /** Connects a visitor to the preview of that token. Throws ApiError where it does not serve. */
  async open(token: string, address: string): Promise<Connection> {
    const preview = await this.#previews.find(token, address).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'The database is away. Retry in a moment.', { cause });
    });
    requireReady(preview);
    const release = this.#count(preview.id);
    try {
      const { runner } = await atRunner(this.#ctx, preview.runner_id);
      const upstream = await runner.connect(preview.id);
      upstream.once('close', release);
      upstream.on('error', () => upstream.destroy());
      return { preview, upstream };
    } catch (cause) {
      release();
      if (cause instanceof RunnerError && cause.code === 'too_many_visitors') throw tooMany();
      throw new ApiError('bad_gateway', "The preview's server does not answer on its port.", { cause });
    }
  }

  /** Counts one more connection; returns how to give it back. */
  #count(previewId: string): () => void {
    const count = this.#open.get(previewId) ?? 0;
    if (count >= MAX_OPEN) throw tooMany();
    this.#open.set(previewId, count + 1);
    return () => {
      const left = this.#open.get(previewId)! - 1;
      if (left) this.#open.set(previewId, left);
      else this.#open.delete(previewId);
    };
  }
}

const tooMany = () =>
  new ApiError('unavailable', 'This preview has too many open connections. Close some.', {
    headers: { 'retry-after': '1' },
  });

function requireReady(preview: Shown | null): asserts preview is Shown {
  if (!preview || preview.status === 'stopped') throw notFound('preview');
  if (preview.status === 'starting')
    throw new ApiError('unavailable', 'The preview is starting. Retry in a moment.', {
      headers: { 'retry-after': '1' },
    });
  if (preview.status === 'failed')
    throw new ApiError('bad_gateway', 'The preview has failed. Read it for its error, and create a new one.');
}
