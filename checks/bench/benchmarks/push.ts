/**
 * The client's push of the largest folder that a source can hold, compared with a raw import of the same files, which
 * were read and packed in advance. Also pushes with no change, and with one.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@headrace/client';
import { push } from '@headrace/client/node';
import type { PushedSource } from '@headrace/client/node';
import { summarize } from '../../harness/statistics.ts';
import type { Benchmark } from '../lib/benchmark.ts';
import { prepare } from './import.ts';

const CHANGED = 'src/area-0/part-0/file-0.ts';

export const pushBenchmark: Benchmark = {
  name: 'push',
  title: 'Push of a folder with 10,000 files, 32 MiB',
  async run(setup) {
    const { json, archive, folder } = await prepare(setup);
    const service = await setup.start();
    const client = createClient({ baseUrl: service.base, key: service.key });
    const newAppId = async () => (await client.apps.create({ name: 'Benchmark' })).id;
    const asJson: number[] = [];
    const asArchive: number[] = [];
    const pushed: number[] = [];
    const unchanged: number[] = [];
    const changed: number[] = [];
    for (let round = 0; round < (setup.quick ? 2 : 8); round++) {
      asJson.push(await imported(json));
      asArchive.push(await imported(archive, 'application/gzip'));
      const appId = await newAppId();
      pushed.push(await timePush(appId, 'files'));
      unchanged.push(await timePush(appId, 'nothing'));
      appendFileSync(join(folder, CHANGED), `${round}`);
      changed.push(await timePush(appId, 'changes'));
      setup.say(
        `round ${round + 1}: JSON ${asJson.at(-1)!.toFixed(0)} ms, tar.gz ${asArchive.at(-1)!.toFixed(0)} ms, push ${pushed.at(-1)!.toFixed(0)} ms, unchanged ${unchanged.at(-1)!.toFixed(0)} ms, one file ${changed.at(-1)!.toFixed(0)} ms`,
      );
    }
    const [json_, archive_, push_] = [summarize(asJson), summarize(asArchive), summarize(pushed)];
    const [unchanged_, changed_] = [summarize(unchanged), summarize(changed)];
    return {
      rows: [
        { what: 'POST sources, JSON from memory', unit: 'ms', figures: json_ },
        { what: 'POST sources, tar.gz from memory', unit: 'ms', figures: archive_ },
        { what: 'push, first', unit: 'ms', figures: push_ },
        { what: 'push, nothing changed', unit: 'ms', figures: unchanged_ },
        { what: 'push, one file changed', unit: 'ms', figures: changed_ },
      ],
      aims: [
        {
          what: 'push, of the time of the raw import as JSON (medians)',
          bound: 'most',
          limit: 1.5,
          value: push_.median / json_.median,
          unit: '×',
        },
        {
          what: 'push, nothing changed (median)',
          bound: 'most',
          limit: 400,
          value: unchanged_.median,
          unit: 'ms',
        },
      ],
      notes: [
        'A push reads, hashes and checks the folder, packs it, sends it, compares the SHA-256 and sets the head. The raw import sends bytes that were packed in advance.',
      ],
    };

    async function imported(body: Buffer, contentType?: string): Promise<number> {
      const path = `/api/platform/v1/apps/${await newAppId()}/sources`;
      const { ms, status } = await service.call('POST', path, body, { contentType });
      if (status !== 201) throw new Error(`an import answered ${status}`);
      return ms;
    }

    async function timePush(appId: string, sent: PushedSource['sent']): Promise<number> {
      const started = performance.now();
      const source = await push(client, appId, folder);
      const ms = performance.now() - started;
      if (source.sent !== sent) throw new Error(`a push sent ${source.sent}, not ${sent}`);
      return ms;
    }
  },
};
