/** For tests: runs the command as an operator or cron does, against a live service. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestServer } from '@headrace/server/service.fixture.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export function headraceOn(server: TestServer) {
  const { databaseUrl, dataDir } = server.service.ctx.config;
  return (args: string[], env: Record<string, string> = {}, stdin = ''): Promise<Ended> => {
    const all = {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: databaseUrl!,
      HEADRACE_DATA_DIR: dataDir,
      HEADRACE_SECRET_KEY: 'test secret of at least 32 characters',
      ...env,
    };
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        [MAIN, ...args],
        { env: all, timeout: 25_000 },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
      child.stdin!.end(stdin);
    });
  };
}
