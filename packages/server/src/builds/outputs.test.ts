/**
 * Outputs of commands in real sandboxes: which are refused and why, and what the artifact's bytes depend on.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { startTestServer } from '../service.fixture.ts';
import { newBench } from './builds.fixture.ts';

const server = await startTestServer();
afterAll(() => server.close());
const status = server.service.ctx.runnerStatus();
if (!status?.ok)
  process.stderr.write(`SKIPPED, no sandbox can be made here: ${status?.missing.join('; ')}\n`);

describe.skipIf(!status?.ok)('the output', () => {
  test.each<[string, string, object, string, RegExp]>([
    ['missing', 'true', {}, 'output_missing', /dist/],
    ['missing, deeper', 'mkdir a', { outputDirectory: 'a/dist' }, 'output_missing', /a\/dist/],
    ['a file', 'touch dist', {}, 'output_invalid', /dist is a link or a file/],
    ['a link', 'mkdir real; ln -s real dist', {}, 'output_invalid', /dist is a link or a file/],
    [
      'below a link',
      'mkdir -p real/dist; ln -s real way',
      { outputDirectory: 'way/dist' },
      'output_invalid',
      /way is a link or a file/,
    ],
    [
      'with a symlink',
      'mkdir -p dist/sub; ln -s /etc/passwd dist/sub/link',
      {},
      'output_invalid',
      /"sub\/link" is a link/,
    ],
    ['with a symlink to a folder', 'mkdir dist; ln -s / dist/root', {}, 'output_invalid', /"root" is a link/],
    ['with a hard link', 'mkdir dist; ln a.txt dist/hard', {}, 'output_invalid', /: hard$/],
    [
      'with a pipe',
      'mkdir dist; mkfifo dist/pipe',
      {},
      'output_invalid',
      /"pipe" is a link or a special file/,
    ],
    [
      'with a socket',
      `mkdir dist; node -e "require('net').createServer().listen('dist/socket', () => process.kill(process.pid, 9))"; true`,
      {},
      'output_invalid',
      /: socket$/,
    ],
    [
      'with an unreadable file',
      'mkdir dist; echo x > dist/secret; chmod 000 dist/secret',
      {},
      'output_invalid',
      /secret/,
    ],
    [
      'with an unreadable folder',
      'mkdir -p dist/closed/in; chmod 000 dist/closed',
      {},
      'output_invalid',
      /closed/,
    ],
    [
      'with .git below',
      'mkdir -p dist/a/.git; touch dist/a/.git/config',
      {},
      'output_invalid',
      /"a\/\.git\/config" must not use a reserved name/,
    ],
    [
      'with .context',
      'mkdir -p dist/.context; touch dist/.context/x',
      {},
      'output_invalid',
      /"\.context\/x"/,
    ],
    [
      'with .hoplite below, in other case',
      'mkdir -p dist/a/b/.Hoplite; touch dist/a/b/.Hoplite/x',
      {},
      'output_invalid',
      /"a\/b\/\.Hoplite\/x"/,
    ],
    [
      'with names alike',
      'mkdir dist; touch dist/Same dist/same',
      {},
      'output_invalid',
      /"same" is the path of an earlier file/,
    ],
    [
      'with a control character',
      `mkdir dist; touch "$(printf 'dist/a\\033b')"`,
      {},
      'output_invalid',
      /"a\\u001bb" must not contain control/,
    ],
    [
      'with a name that is no UTF-8',
      `mkdir dist; touch "$(printf 'dist/\\377')"`,
      {},
      'output_invalid',
      /not UTF-8/,
    ],
    [
      'with a backslash',
      `mkdir dist; touch 'dist/a\\b'`,
      {},
      'output_invalid',
      /"a\\b" must not contain a backslash/,
    ],
    [
      'of too many files',
      'mkdir dist; cd dist; seq 10001 | xargs touch',
      {},
      'output_too_large',
      /10,000 files/,
    ],
    ['of too many bytes', 'mkdir dist; truncate -s 40000000 dist/a dist/b', {}, 'output_too_large', /64 MiB/],
  ])('%s is refused by name, and nothing of it is kept', async (_, command, fields, code, message) => {
    const bench = await newBench(server);
    const build = await bench.ended((await bench.submit(command, fields)).id);
    expect([build.status, build.exitCode, build.error?.code, build.error?.message]).toEqual([
      'failed',
      0,
      code,
      expect.stringMatching(message),
    ]);
    expect([build.artifactSha256, build.artifactByteSize, build.fileCount]).toEqual([null, null, null]);
    for (const what of ['artifact', 'manifest'])
      expect((await server.call('GET', `${bench.url}/builds/${build.id}/${what}`)).body.error.code).toBe(
        'build_not_ready',
      );
    expect(
      await server.service.ctx.db
        .selectFrom('objects')
        .select('key')
        .where('key', 'like', `projects/${bench.appId}/builds/%`)
        .where('delete_after', 'is', null)
        .execute(),
    ).toEqual([]);
  });

  test('without files is ready, with none; empty folders do not count', async () => {
    const bench = await newBench(server);
    expect(await bench.ended((await bench.submit('mkdir -p dist/.git/empty')).id)).toMatchObject({
      status: 'ready',
      fileCount: 0,
    });
  });

  test("has the same bytes whatever the order, times, umask and owner's other bits of its files", async () => {
    const bench = await newBench(server);
    const files = [
      ['b/z', 'z'],
      ['b/a', 'a'],
      ['a.b', 'dot'],
      ['a/c', 'c'],
      ['b-c', '-'],
      ['B/d', 'D'],
      ['é', 'é'],
    ];
    const write = (list: string[][]) =>
      list
        .map(
          ([path, text]) => `mkdir -p "$(dirname 'dist/${path!}')"; printf '%s' '${text!}' > 'dist/${path!}'`,
        )
        .join('; ');
    const one = await bench.ended((await bench.submit(`umask 022; ${write(files)}; chmod 755 dist/b-c`)).id);
    const two = await bench.ended(
      (
        await bench.submit(
          `umask 077; ${write(files.toReversed())}; find dist -exec touch -d 2001-01-01 {} +; chmod 700 dist/b-c; mkdir dist/none`,
        )
      ).id,
    );
    const other = await bench.ended((await bench.submit(`${write(files)}; chmod 755 dist/b-c dist/a.b`)).id);
    expect([one.status, one.fileCount, two.artifactSha256]).toEqual([
      'ready',
      files.length,
      one.artifactSha256,
    ]);
    expect(other.artifactSha256).not.toBe(one.artifactSha256);
    const manifest = async (id: string) =>
      (await server.call('GET', `${bench.url}/builds/${id}/manifest`)).body.manifest.files;
    expect(await manifest(two.id)).toEqual(await manifest(one.id));
    expect((await manifest(one.id)).map((file: { path: string }) => file.path)).toEqual([
      'B/d',
      'a.b',
      'a/c',
      'b-c',
      'b/a',
      'b/z',
      'é',
    ]);
  });
});
