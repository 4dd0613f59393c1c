import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { endOf, makeBench, outputOf, tarStream } from '../runner.fixture.ts';

const bench = await makeBench();
const canRun = bench !== undefined && (await bench.workspaces.trees.probe()) && existsSync('/usr/bin/npm');
let counter = 0;

async function sh(workspaceId: string, command: string): Promise<string> {
  const entries = await bench!.run(`op_${++counter}`, {
    kind: 'exec',
    workspaceId,
    command,
    timeoutMs: 60_000,
  });
  expect([outputOf(entries, 'stderr'), endOf(entries).exitCode]).toEqual(['', 0]);
  return outputOf(entries);
}

const NPM = 'npm --offline --no-audit --no-fund --loglevel=error';

test.skipIf(!canRun)(
  'what npm installs is kept when it is whole, and npm finds it whole in the next thread',
  { timeout: 120_000 },
  async () => {
    const files = {
      'package.json': '{"name":"app","version":"1.0.0"}',
      'dep/package.json':
        '{"name":"dep","version":"1.2.3","main":"i.js","bin":{"dep":"i.js"},"scripts":{"postinstall":"echo built > built.txt"}}',
      'dep/i.js': '#!/usr/bin/env node\nconsole.log("from dep")\n',
    };
    const group = 'prj_npm';
    await bench!.workspaces.put('thr_npm', tarStream(files), {
      keep: { key: 'src_npm', group },
      warm: { group, locks: [] },
    });
    const first = bench!.workspaces.get('thr_npm');
    await sh(
      first.id,
      `cd dep && tar -czf ../dep.tgz --transform 's,^,package/,' package.json i.js; cd ..; ${NPM} install ./dep.tgz >/dev/null`,
    );
    expect(first.tree.over!.dependencies).toMatchObject({ group });
    expect(
      await sh(first.id, 'node -e "require(\'dep\')"; node_modules/.bin/dep; cat node_modules/dep/built.txt'),
    ).toBe('from dep\nfrom dep\nbuilt\n');

    const names = ['package.json', 'package-lock.json', 'dep.tgz'];
    const contents = (await sh(first.id, `for name in ${names.join(' ')}; do base64 -w0 $name; echo; done`))
      .trim()
      .split('\n')
      .map((line) => Buffer.from(line, 'base64'));
    const source = Object.fromEntries(names.map((name, i) => [name, { content: contents[i]! }]));
    const lock = createHash('sha256').update(contents[1]!).digest('hex');
    const open = async (id: string, locks: string[]): Promise<string> => {
      await bench!.workspaces.put(id, tarStream({ ...files, ...source }), {
        keep: { key: `src_${id}`, group },
        warm: { group, locks },
      });
      return id;
    };
    const second = await open('thr_npm2', [lock]);
    expect(await sh(second, `node_modules/.bin/dep; ${NPM} ls`)).toMatch(
      /^from dep\napp@1\.0\.0 \/workspace\n.*dep@1\.2\.3\n\n$/u,
    );
    expect(await sh(await open('thr_npm3', []), 'ls')).not.toContain('node_modules');
  },
);
