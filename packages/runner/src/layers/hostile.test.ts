import { describe, expect, test } from 'vitest';
import { capture } from '../capture/capture.ts';
import { makeBench, tarStream } from '../runner.fixture.ts';
import { Trees } from '../workspaces/trees.ts';
import { layer, next, open, setup, sh } from './layers.fixture.ts';

const bench = await makeBench();
const canMount = bench !== undefined && (await bench.workspaces.trees.probe());
const WAYS = [...(canMount ? [['mounted', true] as const] : []), ['copied', false] as const];
const MEBI = 1024 ** 2;
const deepFolder = (name: string): string => Array.from({ length: 14 }, () => name.repeat(250)).join('/');
const deep = (name: string): string => `mkdir -p ${deepFolder(name)}; cd ${deepFolder(name)}`;

describe.skipIf(!bench)('a setup', () => {
  test.each([
    [
      'fills its disk',
      'mkdir x; i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > x/$i; done',
      { diskBytes: 32 * MEBI },
    ],
    [
      'fills its disk and ends',
      'for i in 1 2 3 4 5 6; do head -c 8000000 /dev/zero > $i; done; sleep 5',
      { diskBytes: 32 * MEBI },
    ],
    ['makes one large file', 'head -c 100000000 /dev/zero > x', { diskBytes: 32 * MEBI }],
    [
      'makes files without end',
      'i=0; while :; do i=$((i+1)); mkdir $i; (cd $i; seq 1000 | xargs touch); done',
      { diskBytes: 32 * MEBI },
    ],
    ['makes too many files', 'seq 200001 | xargs touch', {}],
    ['makes too long paths', `${deep('d')}; seq -f %0100.0f 10000 | xargs touch`, {}],
    ['gives a file many names', 'head -c 24000000 /dev/zero > x; for i in $(seq 100); do ln x $i; done', {}],
    ['makes a file with a hole', 'truncate -s 2100M x', { diskBytes: 8 * 1024 * MEBI }],
  ])('that %s has too large a layer', { timeout: 120_000 }, async (_, command, limits) => {
    const { key, end } = await setup(bench!, command, { limits });
    expect([end.outcome, end.error?.code, end.layer]).toEqual(['failed', 'layer_too_large', undefined]);
    await expect(open(bench!, {}, { layer: key })).rejects.toMatchObject({ code: 'no_layer' });
  });

  test('that leaves more than this runner keeps has too large a layer', async () => {
    const trees = new Trees(bench!.host, undefined, { bytes: MEBI, entries: 100, lowMemory: 0 });
    const made = await trees.makeScratch(next('set'), tarStream({}));
    const key = { key: 'set_large', group: 'prj' };
    const signal = AbortSignal.timeout(60_000);
    expect(await trees.keepLayer(key, made, signal)).toBeLessThan(MEBI);
    const large = await trees.makeScratch(next('set'), tarStream({ x: 'x'.repeat(2 * MEBI) }));
    await expect(
      trees.keepLayer({ ...key, key: 'set_larger' }, { ...large, given: [] }, signal),
    ).rejects.toMatchObject({ code: 'layer_too_large' });
    expect(trees.layers.keys('prj')).toEqual(['set_large']);
  });

  test('that forks without end ends, and harms no other', { timeout: 60_000 }, async () => {
    const { end } = await setup(bench!, 'f() { f | f & }; f; sleep 60', {
      timeoutMs: 3000,
      limits: { processes: 64 },
    });
    expect([end.layer, ['completed', 'failed'].includes(end.outcome)]).toEqual([undefined, true]);
    expect((await setup(bench!, 'true')).end.exitCode).toBe(0);
  });

  test('has nothing that still runs when its layer is made', async () => {
    const key = await layer(
      bench!,
      '(while :; do echo late >> late; done) & setsid sh -c "while :; do echo late >> later; done" & sleep 0.2; echo made > made',
    );
    const it = await open(bench!, {}, { layer: key });
    const look = 'wc -c late later; cat made';
    expect(await sh(bench!, it, look)).toBe(await sh(bench!, await open(bench!, {}, { layer: key }), look));
  });

  test('that is removed while its layer is made leaves none', async () => {
    const { trees } = bench!.workspaces;
    const made = await trees.makeScratch(next('set'), tarStream({ x: 'x' }));
    const key = { key: next('set'), group: 'prj' };
    for (const stop of [new AbortController(), AbortSignal.abort()]) {
      const making = trees.keepLayer(key, made, stop instanceof AbortController ? stop.signal : stop);
      if (stop instanceof AbortController) stop.abort();
      await expect(making).rejects.toThrow();
      expect(trees.layers.keys('prj')).not.toContain(key.key);
    }
    trees.remove(made.tree);
  });

  test.each(WAYS)(
    'may leave deep folders, closed ones and odd names (%s)',
    { timeout: 60_000 },
    async (_, isKept) => {
      const key = await layer(
        bench!,
        `node -e 'const fs = require("fs"); fs.mkdirSync("deep"); process.chdir("deep"); for (let i = 0; i < 3000; i++) { fs.mkdirSync("ab"); process.chdir("ab"); } fs.writeFileSync("x", "x")'
mkdir -p closed/.git/in closed/deeper; echo x > closed/.git/in/x; echo kept > closed/deeper/kept; chmod 0 closed/.git/in closed/.git closed/deeper closed
mkfifo "$(printf 'a\\nb\\377')"; echo x > "$(printf 'new\\nline/ x ')"; ln -s "$(printf '../\\377')" out; mkdir -- -rf; touch -- -rf/--help "%s %d"`,
        { 'new\nline/given': 'given\n', '--given': 'x' },
      );
      const it = await open(bench!, { given: 'x' }, { layer: key, isKept });
      expect(
        await sh(
          bench!,
          it,
          `cat closed/deeper/kept; ls -AQ . closed; ls -AQ new*; ls -- -rf; find deep -type d | wc -l`,
        ),
      ).toBe(
        'kept\n".":\n"%s %d"\n"-rf"\n"closed"\n"deep"\n"given"\n"new\\nline"\n\n"closed":\n"deeper"\n" x "\n--help\n1233\n',
      );
    },
  );
});

describe.skipIf(!bench)('a layer', () => {
  test.each(WAYS)(
    'leaves the source its own room in a listing (%s)',
    { timeout: 120_000 },
    async (_, isKept) => {
      const key = await layer(bench!, `${deep('d')}; seq -f %0100.0f 9000 | xargs touch`);
      const names = Array.from({ length: 9900 }, (__, at) => String(at).padStart(100, '0'));
      const files = Object.fromEntries(names.map((name) => [`${deepFolder('s')}/${name}`, '']));
      const it = await open(bench!, files, { layer: key, isKept });
      expect((await capture(bench!.host, it, Object.keys(files))).files.length).toBe(names.length);
    },
  );

  test.each(WAYS)('is never written by a draft over it (%s)', { timeout: 60_000 }, async (_, isKept) => {
    const key = await layer(
      bench!,
      'mkdir -p gen/d; echo id > gen/id; ln gen/id gen/hard; echo x > gen/d/x; printf "#!/bin/sh\\n" > gen/tool; chmod 755 gen/tool',
    );
    const look = 'cat gen/id gen/hard gen/d/x gen/tool; find . -exec stat -c "%A %n" {} + | sort';
    const victim = await open(bench!, {}, { layer: key, isKept });
    const before = await sh(bench!, victim, look);
    const hostile = await open(bench!, {}, { layer: key, isKept });
    for (const command of [
      'echo evil >> gen/id; chmod 777 gen/hard gen/d; touch -d @0 gen/tool',
      'ln gen/d/x stolen; echo evil > stolen; ln gen/tool gen/d/tool; echo evil >> gen/d/tool',
      'mv gen moved; echo evil > moved/d/x; mv moved gen; rm -rf gen/d; mkdir gen/d; echo evil > gen/d/evil',
      'exec 9<gen/tool; echo evil 2>/dev/null > /proc/self/fd/9; exec 8<gen; echo evil 2>/dev/null > /proc/self/fd/8/id; true',
      `node -e 'const fs = require("fs"); const fd = fs.openSync("gen/hard", "r+"); fs.writeSync(fd, "evil"); fs.ftruncateSync(fd, 2); fs.fchmodSync(fd, 0o777)'`,
      'sed -n "s/.*lowerdir=\\([^,]*\\).*/\\1/p" /proc/self/mountinfo | tr : "\\n" | while read -r path; do echo evil > "$path/evil"; done 2>/dev/null; mount -o remount,rw / 2>/dev/null; umount /workspace 2>/dev/null; true',
      'for p in /proc/[0-9]*/root/workspace /proc/[0-9]*/cwd; do echo evil > $p/evil; done 2>/dev/null; true',
    ])
      await sh(bench!, hostile, command);
    expect(await sh(bench!, victim, look)).toBe(before);
    expect(await sh(bench!, await open(bench!, {}, { layer: key, isKept }), look)).toBe(before);
  });

  test.each(WAYS)('is out of reach of the paths of a source, through its links (%s)', async (_, isKept) => {
    const key = await layer(bench!, 'mkdir d; echo x > d/x; ln -s d link; ln -s /workspace/d absolute');
    const files = { 'link/x': 'source\n', 'absolute/x': 'source\n' };
    expect(
      await sh(bench!, await open(bench!, files, { layer: key, isKept }), 'cat d/x link/x absolute/x'),
    ).toBe('x\nsource\nsource\n');
    expect(await sh(bench!, await open(bench!, {}, { layer: key, isKept }), 'cat link/x')).toBe('x\n');
  });
});
