/** What a hostile service can put into its answers: nothing of it reaches the terminal as a command. */
import { expect, test } from 'vitest';
import { testCli } from '../cli.fixture.ts';

const ESC = '\u001b';
const HOSTILE = `${ESC}]0;owned\u0007${ESC}[2J\u009b8m`;

/** The command line on a service that gives this answer to everything. */
const answering = (answer: () => Response) =>
  testCli({ url: 'https://headrace.test', key: 'hrk_test', fetch: () => Promise.resolve(answer()) });

test('ids and statuses are shown, and the colours of this program stay', async () => {
  const thread = { id: `thr_${HOSTILE}`, status: HOSTILE, title: HOSTILE };
  const cli = answering(() => Response.json({ ok: true, thread }));
  const id = 'thr_01jd0000000000000000000000';
  const argv = ['thread', 'update', id, '--title', 'x', '--app', 'prj_01jd0000000000000000000000'];
  const { exit, stdout } = await cli.run(argv, { terminal: {} });
  expect(exit).toBe(0);
  expect(stdout).toContain('␛]0;owned␇␛[2J<009B>8m');
  // oxlint-disable-next-line no-control-regex -- they must not be there
  expect(stdout).not.toMatch(/[\u0007\u001b\u009b]/);
});

test('errors are shown whole, whatever is in their members', async () => {
  const error = {
    code: 'constructor',
    message: HOSTILE,
    requestId: HOSTILE,
    fields: [{ path: HOSTILE }, {}],
  };
  const cli = answering(() => Response.json({ ok: false, error }, { status: 400 }));
  const { exit, stderr } = await cli.run(['apps', 'list']);
  expect(exit).toBe(2);
  // oxlint-disable-next-line no-control-regex -- they must not be there
  expect(stderr).not.toMatch(/[\u0007\u001b\u009b]|function/);
  expect(stderr).toContain('request ␛]0;owned␇');
  const { error: reported } = (await cli.run(['apps', 'list', '--json'])).json();
  expect(reported).toMatchObject({ code: 'constructor' });
  expect(reported.hint).toBeUndefined();
});
