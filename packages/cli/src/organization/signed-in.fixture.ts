/** For tests: a command line that is signed in as a person, by a context with a session. */
import { testCli } from '../cli.fixture.ts';
import type { TestCli } from '../cli.fixture.ts';
import { writeContexts } from '../config/contexts.ts';
import { processIo } from '../core/io.ts';

export function signedInCli(url: string, cookie: string): TestCli {
  const cli = testCli();
  const session = { cookie, email: 'owner@example.test' };
  writeContexts(
    { ...processIo(), env: { HOME: cli.home } },
    { current: 'test', contexts: { test: { url, session } } },
  );
  return cli;
}
