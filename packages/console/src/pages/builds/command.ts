/** The calls of the dialogs, as programs and the command line make them. */
import { quoted } from '../../ui/as-code.tsx';

/** In place of a thread: what is built or shown belongs to the app. The command line calls it so, too. */
export const NO_THREAD = 'none';

/** The same call by its path and by the client. `threadId` may be `NO_THREAD`. */
export function createCall(
  resource: 'builds' | 'previews',
  appId: string,
  threadId: string,
  body: object,
): { path: string; ts: string } {
  const app = `/api/platform/v1/apps/${appId}`;
  const input = JSON.stringify(body);
  return threadId === NO_THREAD
    ? { path: `${app}/${resource}`, ts: `client.${resource}.createOfApp('${appId}', ${input})` }
    : {
        path: `${app}/threads/${threadId}/${resource}`,
        ts: `client.${resource}.create('${appId}', '${threadId}', ${input})`,
      };
}

/** The same build by the command line. Without a source, of the thread's latest or of the head. */
export const buildCommand = (build: {
  appId: string;
  threadId: string;
  sourceId?: string | undefined;
  command: string;
  outputDirectory: string;
  timeoutSeconds?: number | undefined;
  setup?: boolean | undefined;
}): string =>
  [
    `headrace build ${build.threadId} --app ${build.appId}`,
    ...(build.sourceId === undefined ? [] : [`--source ${build.sourceId}`]),
    `--directory ${quoted(build.outputDirectory)}`,
    ...(build.timeoutSeconds === undefined ? [] : [`--timeout ${build.timeoutSeconds}s`]),
    ...(build.setup ? ['--setup'] : []),
    `-- ${quoted(build.command)}`,
  ].join(' ');
