import { quoted } from '../../ui/as-code.tsx';

/** The same build by the command line. Without a source, of the thread's latest. */
export const buildCommand = (build: {
  appId: string;
  threadId: string;
  sourceId?: string | undefined;
  command: string;
  outputDirectory: string;
  timeoutSeconds?: number | undefined;
}): string =>
  [
    `headrace build ${build.threadId} --app ${build.appId}`,
    ...(build.sourceId === undefined ? [] : [`--source ${build.sourceId}`]),
    `--directory ${quoted(build.outputDirectory)}`,
    ...(build.timeoutSeconds === undefined ? [] : [`--timeout ${build.timeoutSeconds}s`]),
    `-- ${quoted(build.command)}`,
  ].join(' ');
