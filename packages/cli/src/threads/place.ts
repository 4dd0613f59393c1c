/** The thread that a command works with. */
import { isCode } from '@headrace/client';
import type { AppThreadHandle, Client } from '@headrace/client';
import type { Cli } from '../core/cli.ts';
import { usage } from '../core/fault.ts';
import { directThreadNamed, rememberDirectThread } from '../core/ids.ts';

export interface Place {
  /** Undefined on the Direct API, which reaches the threads of projects and of apps. */
  appId: string | undefined;
  threadId: string;
  /** The thread's calls. `client`: the command's, or that of a write. */
  of(client: Client): AppThreadHandle;
}

const WHOLE_ID = /^thr_[0-9a-z]{26}$/;

/** In the command's app. Without one, and by a whole id that the folder's app need not have, on the Direct API. */
export async function threadPlace(cli: Cli, text: string | undefined): Promise<Place> {
  const { app, appFrom } = cli.target;
  const isChosen = appFrom === '--app' || appFrom === 'HEADRACE_APP';
  if (app === undefined || (!isChosen && WHOLE_ID.test(text ?? ''))) {
    const threadId = await directThreadNamed(cli, text ?? '@last');
    return said(cli, text, placeOf(undefined, threadId));
  }
  const appId = await cli.appId();
  const threadId = text === undefined ? lastThread(cli, appId) : await cli.threadNamed(text, appId);
  return said(cli, text, placeOf(appId, threadId));
}

function said(cli: Cli, text: string | undefined, place: Place): Place {
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

/** With its app, if it has one: the events of an app's thread are only in the feed of the app. */
export async function withApp(cli: Cli, place: Place): Promise<Place> {
  if (place.appId !== undefined) return place;
  const { signal } = cli;
  const { projectId } = await place.of(cli.client).get({ signal });
  try {
    const { id } = await cli.client.apps.get(projectId, { signal });
    return placeOf(id, place.threadId);
  } catch (error) {
    if (isCode(error, 'app_not_found')) return place;
    throw error;
  }
}

/** `@last` is this thread from now on. */
export function rememberThread(cli: Cli, { appId, threadId }: Place): void {
  if (appId === undefined) rememberDirectThread(cli, threadId);
  else cli.remember(`thread ${appId}`, threadId);
}
