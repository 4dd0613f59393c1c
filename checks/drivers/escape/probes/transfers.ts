import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readOutput } from '../../../../packages/runner/src/capture/build-output.ts';
import { blobs, capture } from '../../../../packages/runner/src/capture/capture.ts';
import { makeSandboxFolder } from '../../../../packages/runner/src/sandbox/host.ts';
import { WORKSPACE } from '../../../../packages/runner/src/sandbox/driver.ts';
import { settled } from '../../../../packages/runner/src/sandbox/processes.ts';
import { tarOf } from '../../../../packages/runner/src/tar.ts';
import type { Tree } from '../../../../packages/runner/src/workspaces/tree.ts';
import { Trees } from '../../../../packages/runner/src/workspaces/trees.ts';
import type { Workspace } from '../../../../packages/runner/src/workspaces/workspaces.ts';
import type { AloneProbe, Ground } from '../alone.ts';
import { PYTHON } from '../canaries.ts';

const RACE_MS = 2500;
type Result = Awaited<ReturnType<AloneProbe['attempt']>>;

function treeOf(ground: Ground): Tree {
  const folder = makeSandboxFolder(ground.host, randomUUID());
  return {
    folder,
    links: new Map(),
    hasHistory: false,
    bind: ({ readOnly }) => ({ host: folder, inside: WORKSPACE, readOnly }),
  };
}

const workspaceOf = (tree: Tree): Workspace => ({
  id: randomUUID(),
  tree,
  usedBy: null,
  still: null,
  captured: null,
  evidence: [],
  homes: new Map(),
  secrets: [],
  usedAt: 0,
  bytes: null,
});

/**
 * Exchanges the entry at a name for a link to something of the host, as fast as it can, while the runner's
 * own functions read the tree.
 */
async function race(
  ground: Ground,
  tree: Tree,
  { name, make, target }: { name: string; make: string; target: string },
  attempt: () => Promise<boolean>,
): Promise<Result> {
  const script = `
import os, time
end = time.time() + ${RACE_MS / 1000 + 2}
ours, link = "${name}", ".l"
${make}
print("ready", flush=True)
while time.time() < end:
    os.symlink("${target}", link); swap(link)
    back()
`;
  const sandbox = ground.start(`exec ${PYTHON} -c '${script}'`, tree.folder);
  await new Promise<void>((resolve) => {
    sandbox.stdout.once('data', () => resolve()).once('close', () => resolve());
  });
  let tries = 0,
    succeeded = false;
  try {
    for (const end = Date.now() + RACE_MS; !succeeded && Date.now() < end; tries++)
      succeeded = await attempt().catch(() => false);
  } finally {
    await sandbox.kill();
  }
  return { succeeded, said: `${tries} tries` };
}

const FILE = (content: string): string => `
def back():
    open(".f", "w").write("${content}"); os.rename(".f", ours)
def swap(path): os.rename(path, ours)
back()`;
/** A folder cannot be replaced by a link in one step: the kernel exchanges two names. */
const FOLDER = (file: string, content: string): string => `
import ctypes
L = ctypes.CDLL(None)
os.mkdir(ours)
if "${file}": open(ours + "/${file}", "w").write("${content}")
def swap(path): L.renameat2(-100, path.encode(), -100, ours.encode(), 2)
def back(): swap(link); os.unlink(link)`;

const sameLength = (secret: string): string => 'x'.repeat(secret.length);
const isSecret = (secret: string, hash: string): boolean =>
  hash === createHash('sha256').update(secret).digest('hex');

export const TRANSFERS: AloneProbe[] = (
  [
    [
      'capture-file-swapped',
      async (ground) => {
        const { secret, folder } = ground.canaries,
          tree = treeOf(ground);
        return race(
          ground,
          tree,
          { name: 'x', make: FILE(sameLength(secret)), target: join(folder, 'secret.txt') },
          async () =>
            (await capture(ground.host, workspaceOf(tree), ['x'])).files.some((file) =>
              isSecret(secret, file.sha256),
            ),
        );
      },
    ],
    [
      'capture-folder-swapped',
      async (ground) => {
        const { secret, folder } = ground.canaries,
          tree = treeOf(ground);
        return race(
          ground,
          tree,
          { name: 'd', make: FOLDER('secret.txt', sameLength(secret)), target: folder },
          async () =>
            (await capture(ground.host, workspaceOf(tree), ['d/secret.txt'])).files.some((file) =>
              isSecret(secret, file.sha256),
            ),
        );
      },
    ],
    [
      'contents-file-swapped',
      async (ground) => {
        const { secret, folder } = ground.canaries,
          tree = treeOf(ground),
          workspace = workspaceOf(tree);
        await end(ground, tree, `printf ${sameLength(secret)} >x`);
        await capture(ground.host, workspace, ['x']);
        await end(ground, tree, `ln -sf ${folder}/secret.txt x`);
        const said = await buffer(blobs(ground.host, workspace, ['x'])).then(
          (bytes) => bytes.toString('latin1'),
          (error: Error) => error.message,
        );
        return { succeeded: said.includes(secret), said: said.slice(0, 80) };
      },
    ],
    [
      'output-folder-swapped',
      async (ground) => {
        const { secret, folder } = ground.canaries,
          tree = treeOf(ground);
        return race(
          ground,
          tree,
          { name: 'dist', make: FOLDER('index.html', 'x'), target: join(folder, 'cwd') },
          async () => (await buffer(await readOutput(ground.host, tree, 'dist'))).includes(secret),
        );
      },
    ],
    [
      'output-hard-link',
      async (ground) => {
        const { secret, folder } = ground.canaries,
          tree = treeOf(ground);
        await end(ground, tree, `mkdir dist; ln ${folder}/secret.txt dist/x; rm -f ${folder}/moved; true`);
        const said = await readOutput(ground.host, tree, 'dist').then(
          async (tar) => (await buffer(tar)).toString('latin1'),
          (error: Error) => error.message,
        );
        return { succeeded: said.includes(secret), said: said.slice(0, 80) };
      },
    ],
    [
      'patch-folder-swapped',
      async (ground) => {
        const tree = treeOf(ground),
          trees = new Trees(ground.host),
          planted = join(ground.canaries.folder, 'drop/planted.txt');
        return race(
          ground,
          tree,
          { name: 'out', make: FOLDER('', ''), target: join(ground.canaries.folder, 'drop') },
          async () => {
            await trees.patch(
              tree,
              Readable.from([tarOf([{ path: 'out/planted.txt', content: 'planted' }])], {
                objectMode: false,
              }),
            );
            return existsSync(planted);
          },
        );
      },
    ],
    [
      'patch-up-and-out',
      async (ground) => {
        const { id } = ground.canaries,
          tree = treeOf(ground);
        await new Trees(ground.host)
          .patch(
            tree,
            Readable.from([tarOf([{ path: `../${id}.planted`, content: 'planted' }])], { objectMode: false }),
          )
          .catch(() => {});
        return { succeeded: existsSync(join(ground.host.base, 'w', `${id}.planted`)), said: '' };
      },
    ],
    [
      'restore-up-and-out',
      async (ground) => {
        const { id } = ground.canaries;
        const tree = await new Trees(ground.host)
          .make(
            'restored',
            Readable.from(
              [
                tarOf([
                  { path: `../${id}.planted`, content: 'planted' },
                  { path: `/tmp/${id}.planted`, content: 'planted' },
                ]),
              ],
              { objectMode: false },
            ),
          )
          .catch(() => undefined);
        return {
          succeeded:
            existsSync(join(ground.host.base, 'w', `${id}.planted`)) || existsSync(`/tmp/${id}.planted`),
          said: tree?.folder ?? 'refused',
        };
      },
    ],
    [
      'remove-through-link',
      async (ground) => {
        const { folder } = ground.canaries,
          tree = treeOf(ground),
          kept = join(folder, 'drop/kept.txt');
        writeFileSync(kept, 'kept');
        await end(
          ground,
          tree,
          `ln -s ${folder}/drop out; mkdir shut; ln -s ${folder}/drop shut/out; chmod 0 shut`,
        );
        new Trees(ground.host).remove(tree);
        await settled(() => !existsSync(`${tree.folder}.gone`), 10_000);
        return { succeeded: !existsSync(kept) || readFileSync(kept, 'utf8') !== 'kept', said: '' };
      },
    ],
  ] satisfies [string, (ground: Ground) => Promise<Result>][]
).map(([name, attempt]) => ({ name, theme: 'capture, outputs and restore', attempt }));

async function end(ground: Ground, tree: Tree, command: string): Promise<void> {
  const sandbox = ground.start(command, tree.folder);
  sandbox.stdout.resume();
  await sandbox.exited;
}
