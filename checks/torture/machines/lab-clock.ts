/**
 * Preloaded into the processes of a machine: their clock is ahead by the milliseconds in the file that TORTURE_CLOCK names.
 * A runner's own process is started without the variables of its starter, so these are added there.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { flushCompileCache, registerHooks } from 'node:module';

/** By then a process has read its modules; those that start after it need not compile them, though this one may be killed. */
const FLUSH_MS = 2_000;
const READ_EVERY_MS = 100;
const Real = Date;
let [offsetMs, readAt] = [0, -Infinity];

function now(): number {
  if (performance.now() - readAt > READ_EVERY_MS) {
    readAt = performance.now();
    offsetMs = Number(readFileSync(process.env['TORTURE_CLOCK']!, 'utf8'));
  }
  return Real.now() + offsetMs;
}

globalThis.Date = class extends Real {
  constructor(...parts: ConstructorParameters<DateConstructor> | []) {
    if (parts.length > 0) super(...(parts as ConstructorParameters<DateConstructor>));
    else super(now());
  }
  static override now = now;
} as DateConstructor;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('/packages/runner/src/client/own-mounts.ts')) return loaded;
    const passed = ['NODE_OPTIONS', 'TORTURE_CLOCK'].map((name) => `${name}: process.env.${name},`).join(' ');
    return {
      ...loaded,
      source: Buffer.from(loaded.source as Uint8Array)
        .toString()
        .replace('NODE_COMPILE_CACHE:', `${passed} NODE_COMPILE_CACHE:`),
    };
  },
});

if (isMainThread) setInterval(flushCompileCache, FLUSH_MS).unref();
