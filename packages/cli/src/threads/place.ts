/** The thread that a command works with. */
import type { AppThreadHandle, Client } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';

export interface Place {
  /** Undefined for a thread that is named by its whole id, where no app is known. */
  appId: string | undefined;
  threadId: string;
  /** The thread's calls. `client`: the command's, or that of a write. */
  of(client: Client): AppThreadHandle;
}

const WHOLE_ID = /^thr_[0-9a-z]{26}$/;

/** A whole id needs no app: the Direct paths reach every thread. */
export async function threadPlace(cli: Cli, text: string | undefined): Promise<Place> {
  if (cli.target.app === undefined && WHOLE_ID.test(text ?? '')) return placeOf(undefined, text!);
  const appId = await cli.appId();
  const place = placeOf(
    appId,
    text === undefined ? lastThread(cli, appId) : await cli.threadNamed(text, appId),
  );
  if (text === undefined) cli.say(cli.paintTalk('dim', `Thread ${place.threadId}`));
  return place;
}

function lastThread(cli: Cli, appId: string): string {
  const last = cli.last(`thread ${appId}`);
  if (last === undefined) throw usage('Which thread? There is no last one here yet.', 'headrace thread list');
  return last;
}

export const placeOf = (appId: string | undefined, threadId: string): Place => ({
  appId,
  threadId,
  of: (client) => (appId === undefined ? client.thread(threadId) : client.app(appId).thread(threadId)),
});

/** `@last` is this thread from now on. */
export function rememberThread(cli: Cli, { appId, threadId }: Place): void {
  if (appId !== undefined) cli.remember(`thread ${appId}`, threadId);
}
