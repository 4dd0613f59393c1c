import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, type Bind } from './driver.ts';
import type { Host } from './host.ts';

/** Where a runtime finds the runner's Node with its loader and libraries. */
const CARRIED = '/opt/headrace/lib';
const LOADER = 'loader',
  EXEC_PATH = 'exec-path.cjs';

/**
 * Node is linked against this machine's C library, which a runtime may have in another version (Debian 11) or
 * not at all (Alpine). So it comes with its own loader and libraries, which no other program of the sandbox
 * uses: a variable would reach those too. Node takes the loader for its own program; EXEC_PATH corrects that
 * for agents that start Node again.
 */
const START = `#!/bin/sh
exec ${CARRIED}/${LOADER} --library-path ${CARRIED} ${CARRIED}/node -r ${CARRIED}/${EXEC_PATH} "$@"
`;

/** What makes NODE run in any runtime with a POSIX sh. The files are made once. */
export function carriedNode(host: Host): Bind[] {
  const folder = join(host.base, 'node-carried');
  if (!existsSync(folder)) {
    const part = `${folder}.part`;
    make(host, part);
    renameSync(part, folder);
  }
  const seen = (from: string, inside: string): Bind => ({ host: from, inside, readOnly: true });
  return [
    seen(join(folder, 'lib'), CARRIED),
    seen(host.node, `${CARRIED}/node`),
    seen(join(folder, 'start'), NODE),
  ];
}

function make(host: Host, folder: string): void {
  mkdirSync(join(folder, 'lib'), { recursive: true, mode: 0o755 });
  const { loader, libraries } = linkedWith(host.node);
  const files = [...libraries, ...(loader === undefined ? [] : [[LOADER, loader] as const])];
  for (const [name, path] of files) copyFileSync(path, join(folder, 'lib', name));
  writeFileSync(join(folder, 'lib', EXEC_PATH), `process.execPath = '${NODE}';\n`);
  // The binary itself is mounted here: a copy would take 120 MB.
  writeFileSync(join(folder, 'lib/node'), '');
  writeFileSync(join(folder, 'start'), START, { mode: 0o755 });
}

/** The loader of a program, and its libraries: name → path. */
function linkedWith(program: string): { loader: string | undefined; libraries: [string, string][] } {
  const { stdout } = spawnSync(program, [], {
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    cwd: '/',
    encoding: 'utf8',
  });
  return {
    loader: /^\s*(\/\S+) \(0x/m.exec(stdout)?.[1],
    libraries: [...stdout.matchAll(/^\s*(\S+) => (\/\S+)/gm)].map(([, name, path]) => [name!, path!]),
  };
}
