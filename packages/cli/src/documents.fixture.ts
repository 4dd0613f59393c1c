import { expect } from 'vitest';
import type { RunOptions, TestCli } from './cli.fixture.ts';

/** Runs a command line with --json, which has to work, and returns its document. */
// Tests reach into documents by name; a wrong name fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
export async function documentOf(cli: TestCli, argv: readonly string[], options?: RunOptions): Promise<any> {
  const { exit, stdout, stderr } = await cli.run([...argv, '--json'], options);
  expect([argv, exit, exit === 0 ? '' : stdout]).toEqual([argv, 0, '']);
  expect(stderr).not.toContain('headrace:');
  return JSON.parse(stdout);
}
