import { secondsSince } from '@headrace/runner/metrics';
import { ObjectNotFoundError } from '../storage/object-store.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ServerMetrics } from './table.ts';

type Op = 'put' | 'get' | 'head' | 'delete' | 'probe';

/** The store, with its calls measured. That there is no such object is an answer. */
export function measuredStore(store: ObjectStore, metrics: ServerMetrics): ObjectStore {
  if (!metrics.isOn) return store;
  async function measure<T>(op: Op, call: Promise<T>): Promise<T> {
    const began = performance.now();
    const end = (outcome: 'ok' | 'failed') =>
      metrics.observe('headrace_store_seconds', { op, outcome }, secondsSince(began));
    try {
      const value = await call;
      end('ok');
      return value;
    } catch (error) {
      end(error instanceof ObjectNotFoundError ? 'ok' : 'failed');
      throw error;
    }
  }
  return {
    put: (key, content) => measure('put', store.put(key, content)),
    get: (key) => measure('get', store.get(key)),
    getStream: (key) => measure('get', store.getStream(key)),
    getRange: (key, start, end) => measure('get', store.getRange(key, start, end)),
    head: (key) => measure('head', store.head(key)),
    delete: (key) => measure('delete', store.delete(key)),
    probe: () => measure('probe', store.probe()),
    list: (prefix) => store.list(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}
