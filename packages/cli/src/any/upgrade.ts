/** `headrace upgrade --check`: asks npm's registry for the newest version, and changes nothing. */
import type { Cli } from '../core/cli.ts';
import { EXIT } from '../core/exit.ts';
import { Fault, usage } from '../core/fault.ts';
import { VERSION } from '../core/version.ts';

const PACKAGE = '@headrace/cli';
const LIMIT_MS = 3_000;

export async function upgrade(cli: Cli, isCheck: boolean): Promise<void> {
  if (!isCheck)
    throw usage(
      'headrace does not replace itself: --check asks for the newest version.',
      `npm i -g ${PACKAGE}@latest`,
    );
  const latest = await newest(cli);
  const isNewest = !isNewer(latest, VERSION);
  cli.show({ version: VERSION, latest, isNewest }, () =>
    isNewest
      ? `${VERSION} is the newest version.`
      : `${latest} is newer than ${VERSION}: npm i -g ${PACKAGE}@${latest}`,
  );
}

async function newest({ io, signal }: Cli): Promise<string> {
  const registry = (io.env.npm_config_registry || 'https://registry.npmjs.org').replace(/\/+$/, '');
  const away = (why: string) =>
    new Fault(EXIT.unreachable, `${registry} does not say what is newest: ${why}.`);
  let answer: Response;
  let found: { version?: unknown };
  try {
    answer = await (io.fetch ?? fetch)(`${registry}/${PACKAGE.replace('/', '%2f')}/latest`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
    });
    found = answer.ok ? ((await answer.json()) as { version?: unknown }) : {};
  } catch (error) {
    signal.throwIfAborted();
    const { name, cause, message } = error as Error & { cause?: { code?: string } };
    throw away(name === 'TimeoutError' ? `no answer within ${LIMIT_MS / 1000} s` : (cause?.code ?? message));
  }
  if (answer.status === 404) throw new Fault(EXIT.notFound, `${registry} has no ${PACKAGE}.`);
  if (typeof found?.version !== 'string' || !/^\d+\.\d+\.\d+$/.test(found.version))
    throw away(`it answers ${answer.status} without a version`);
  return found.version;
}

function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at !== -1 && left[at]! > right[at]!;
}
