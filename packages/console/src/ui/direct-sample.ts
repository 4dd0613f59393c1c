/** Samples of code for a project of the Direct API, made from those for an app. */
import { directForm } from '../api/direct-form.ts';
import { quoted } from './quoted.ts';

export interface Sample {
  method: string;
  /** From `/api`. */
  path: string;
  body?: unknown;
  ts: string;
  cli: string | null;
}

const APP = /^\/api\/platform\/v1\/apps\/([^/]+)/;

/** The app or project that a path is in. */
export const appIdIn = (path: string): string | null => APP.exec(path)?.[1] ?? null;

/** Only these commands take a project; a thread's need none, by its whole id. */
const OF_PROJECT = /^headrace (env|skills|settings|thread (list|new)) /;
const OF_THREAD =
  /^headrace (thread (update|archive|unarchive|rm|export|restore)|send|stop|retry|fork|exec|edit|approve|deny) /;

/** The same write with the paths, the client and the commands of the Direct API. */
export function directSample(sample: Sample): Sample {
  const { path, ts, cli } = sample;
  const direct = directForm(path);
  return {
    ...sample,
    path: direct === path ? path.replace(APP, '/api/projects/$1') : direct,
    ts: boundCalls(ts),
    cli: cli === null ? null : commandOf({ ...sample, cli, path: direct }),
  };
}

const ID = String.raw`['"]([a-z]+_\w+)['"]`;
const CALL = new RegExp(String.raw`client\.(\w+)\.(\w+)\(\s*${ID}(?:,\s*['"](thr_\w+)['"])?(?:,\s*)?`, 'g');
/** The handle's own calls are its direct members. */
const OWN = new Set(['apps', 'projects', 'threads']);

/** `client.runs.stop('prj_1', 'thr_1')` → `client.thread('thr_1').runs.stop()`. */
const boundCalls = (ts: string): string =>
  ts.replace(CALL, (...[, resource, name, id, threadId]: (string | undefined)[]) => {
    const handle = threadId === undefined ? `client.project('${id}')` : `client.thread('${threadId}')`;
    return `${handle}.${OWN.has(resource!) ? '' : `${resource}.`}${name}(`;
  });

function commandOf({ method, path, body, cli }: Sample & { cli: string }): string {
  if (OF_PROJECT.test(cli)) return cli.replace(/ --app (?=prj_)/, ' --project ');
  if (OF_THREAD.test(cli)) return cli.replace(/ --app prj_\w+/, '');
  const call = `headrace api ${method} ${path}`;
  return body === undefined ? call : `echo ${quoted(JSON.stringify(body))} | ${call} --input -`;
}
