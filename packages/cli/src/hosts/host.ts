/** `headrace host`: this machine as a place of work. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentOf, folderOf, requireReadable, runHost } from '@headrace/runner/host';
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { VERSION } from '../core/version.ts';
import { shown } from '../terminal/escape.ts';

interface Options {
  'token-file': string | undefined;
  bind: string[];
  agent: string[];
  share: 'owner' | 'organization' | undefined;
}

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

export async function serveHost(cli: Cli, options: Options): Promise<void> {
  const url = addressOf(cli);
  const share = options.share ?? 'owner';
  if (options.bind.length === 0) throw usage('No folder is given: --bind NAME=FOLDER');
  if (options.agent.length === 0) throw usage('No agent is given: --agent agent_a=COMMAND');
  const folders = options.bind.map((text) => asUsage(() => folderOf(text, cli.io.cwd)));
  const agents = options.agent.map((text) => asUsage(() => agentOf(text)));
  requireDistinct('--bind', folders);
  requireDistinct('--agent', agents);
  for (const folder of folders)
    await requireReadable(folder).catch((error: Error) => Promise.reject(usage(error.message)));
  const token = tokenOf(cli, options['token-file']);
  await agree(cli, { url, share, folders, agents });
  const end = new AbortController();
  const stop = (): void => end.abort();
  const stopListening = cli.onInterrupt(stop);
  for (const signal of SIGNALS) process.once(signal, stop);
  try {
    const reason = await runHost({
      url,
      token,
      version: VERSION,
      share,
      folders,
      agents,
      env: cli.io.env,
      signal: end.signal,
      onOnline: (host) => {
        if (cli.isJson) cli.printLine({ ok: true, host });
        else cli.print(`headrace host ${shown(host.name)} online`);
      },
      onAway: (why, ms) =>
        cli.say(`Not connected: ${shown(why)}. The next attempt is in ${Math.ceil(ms / 1000)} s.`),
    });
    if (reason !== undefined)
      throw new Fault(EXIT.denied, `This host has ended: ${reason.replace(/\.$/, '')}.`);
    throw new Fault(EXIT.interrupted, 'The host has ended, with all that its agents were doing.');
  } finally {
    stopListening();
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/** The token goes to no address that a folder has named, and over no line that others can read. */
function addressOf(cli: Cli): string {
  if (cli.globals.url === undefined)
    throw usage('Which service? Give its address: --url https://headrace.example');
  const { url } = cli.target;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname))
    throw usage(`${url} is another machine, which is reached by https only: the token would be readable.`);
  return url;
}

function tokenOf(cli: Cli, file: string | undefined): string {
  const token = (file === undefined ? cli.io.env['HEADRACE_HOST_TOKEN'] : readToken(cli, file))?.trim();
  if (!token) throw usage('The host has no token: give --token-file FILE, or HEADRACE_HOST_TOKEN.');
  if (!/^hrh_[\w-]{20,200}$/.test(token)) throw usage('That is no token of a host: it begins with hrh_.');
  return token;
}

function readToken(cli: Cli, file: string): string {
  try {
    return readFileSync(resolve(cli.io.cwd, file), 'utf8');
  } catch (error) {
    throw usage(`The token cannot be read: ${(error as Error).message}`);
  }
}

interface Terms {
  url: string;
  share: 'owner' | 'organization';
  folders: readonly { name: string; path: string }[];
  agents: readonly { name: string; command: readonly string[] }[];
}

/** Says what is going to happen, and goes on after a yes. */
async function agree(cli: Cli, { url, share, folders, agents }: Terms): Promise<void> {
  const whom =
    share === 'organization' ? 'every member of your organization, and its service keys' : 'you alone';
  cli.say(
    [
      `${url} may use this machine:`,
      ...folders.map(({ name, path }) => `  ${shown(name)}: ${shown(path)}`),
      ...agents.map(({ name, command }) => `  ${name}: ${shown(command.join(' '))}`),
      '',
      `Its threads may be used by ${whom}.`,
      'The agents run without a sandbox, with your rights, your environment and all that you can read.',
      'The files of these folders are uploaded to the service, but for what git or .gitignore ignores,',
      'dependency folders and links; and so is what the agents say, run and read.',
    ].join('\n'),
  );
  await cli.requireYes(() => 'Let it?');
}

function requireDistinct(option: string, named: readonly { name: string }[]): void {
  const names = named.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw usage(`${option} ${twice} is given twice.`);
}

function asUsage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw usage((error as Error).message);
  }
}
