/** What Pods say, those too that are gone by the time that somebody asks. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from './api.ts';
import { repeat } from './processes.ts';
import type { Repeated } from './processes.ts';

const LOOK_MS = 500;

/** A file for each Pod of the namespace, below `folder`, and one of its events. */
export function keepLogs(api: Api, namespace: string, folder: string): Repeated {
  mkdirSync(folder);
  const kept = new Set<string>();
  return repeat('logs', LOOK_MS, async () => {
    for (const { metadata } of await api.pods(namespace)) {
      if (kept.has(metadata.uid)) continue;
      const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/log?follow=true&timestamps=true`;
      if (await api.follow(path, join(folder, `${metadata.name}.log`))) kept.add(metadata.uid);
    }
    const events = await api.list(`/api/v1/namespaces/${namespace}/events`);
    const lines = events.map(
      ({ metadata, involvedObject, reason, message, count }) =>
        `${metadata.creationTimestamp} ${involvedObject.kind}/${involvedObject.name} ${reason} (${count}): ${message}\n`,
    );
    writeFileSync(join(folder, 'events.log'), lines.toSorted().join(''));
  });
}
