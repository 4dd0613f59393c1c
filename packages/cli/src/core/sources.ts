/** A source of an app, from what people type: `head`, `thread:THREAD`, and all that `idOf` takes. */
import type { Cli } from './cli.ts';
import { EXIT } from './exit.ts';
import { Fault } from './fault.ts';
import { idOf } from './names.ts';

const PAGE = 200;
const THREAD = 'thread:';

export async function sourceNamed(cli: Cli, text: string, appId: string): Promise<string> {
  if (text === 'head' || text === '@head') return headOf(cli, appId);
  if (text.startsWith(THREAD)) {
    const threadId = await cli.threadNamed(text.slice(THREAD.length), appId);
    const { latestSourceId } = await cli.client.threads.get(appId, threadId, { signal: cli.signal });
    return latestSourceId ?? noSource(threadId);
  }
  return idOf(text, {
    what: 'source',
    prefix: 'src_',
    listing: 'headrace log --sources',
    list: () => labelled(cli, appId),
    last: () => cli.last(`source ${appId}`),
  });
}

async function headOf(cli: Cli, appId: string): Promise<string> {
  const { headSourceId } = await cli.client.apps.get(appId, { signal: cli.signal });
  if (headSourceId !== null) return headSourceId;
  throw new Fault(EXIT.conflict, 'The app has no head yet.', {
    hint: 'Push a folder first: headrace push',
    code: 'head_not_initialized',
  });
}

async function* labelled(cli: Cli, appId: string) {
  for await (const { id, message } of cli.client.sources.list(appId, { limit: PAGE, signal: cli.signal }))
    yield { id, label: message };
}

export function noSource(threadId: string): never {
  throw new Fault(EXIT.conflict, `The thread ${threadId} has no source yet.`, {
    hint: `headrace thread show ${threadId}`,
  });
}
