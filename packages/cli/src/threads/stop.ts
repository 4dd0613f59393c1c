/** `headrace stop` and `headrace thread restore`. */
import type { CheckpointRestore, Run, SourceRestore } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import type { Exit } from '../core/exit.ts';
import { idOf } from '../core/names.ts';
import { threadPlace } from './place.ts';
import type { Place } from './place.ts';

interface Waiting {
  'no-wait': boolean;
  timeout: number | undefined;
}

export async function stop(cli: Cli, text: string | undefined, options: Waiting): Promise<void> {
  const place = await threadPlace(cli, text);
  const asked = await cli.write((client) => place.of(client).runs.stop({ signal: cli.signal }));
  const run = await endOf(cli, place, asked, options);
  cli.show({ run }, () => `${run.id}  ${run.status}`);
}

/** A checkpoint of the thread, or any source of its app. */
export async function restore(
  cli: Cli,
  [text, what]: [string | undefined, string],
  options: Waiting,
): Promise<Exit> {
  const place = await threadPlace(cli, text);
  const { signal } = cli;
  const checkpointId = what.startsWith('src_') ? undefined : await checkpointNamed(cli, place, what);
  const result = await cli.write(async (client): Promise<CheckpointRestore | SourceRestore> => {
    const { checkpoints } = place.of(client);
    return checkpointId === undefined
      ? await checkpoints.restoreSource({ sourceId: what }, { signal })
      : await checkpoints.restore(checkpointId, {}, { signal });
  });
  const queued = await place.of(cli.client).runs.get(result.runId, { signal });
  const run = await endOf(cli, place, queued, options);
  cli.show({ result: { ...result, status: run.status }, run }, () =>
    [run.id, run.status, run.resultSourceId ?? ''].join('  ').trimEnd(),
  );
  return run.status === 'failed' || run.status === 'cancelled' ? EXIT.failed : EXIT.done;
}

async function endOf(
  cli: Cli,
  place: Place,
  run: Run,
  { 'no-wait': isLeft, timeout }: Waiting,
): Promise<Run> {
  if (isLeft) return run;
  return place
    .of(cli.client)
    .runs.get(run.id, { signal: cli.signal })
    .done({ signal: cli.signal, ...(timeout !== undefined && { timeoutMs: timeout }) });
}

export const checkpointNamed = (cli: Cli, place: Place, text: string): Promise<string> =>
  idOf(text, {
    what: 'checkpoint',
    prefix: 'chk_',
    listing: 'headrace checkpoints',
    async *list() {
      for await (const { id } of place.of(cli.client).checkpoints.list({ limit: 200, signal: cli.signal }))
        yield { id, label: null };
    },
  });
