/** For tests: the service in memory behind a port, and the command line as a process of its own. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { TestService } from '@headrace/client/testing';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Returns the service's address and key. */
export async function onPort({ url, key, fetch: answer }: Pick<TestService, 'url' | 'key' | 'fetch'>) {
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { 'last-event-id': lastEventId = '', 'x-api-key': given } = request.headers;
    const headers = {
      'x-api-key': String(given),
      ...(lastEventId && { 'last-event-id': String(lastEventId) }),
    };
    answer(url + request.url!, { method: request.method!, headers, signal: gone.signal }).then(
      ({ status, headers: sent, body }) => {
        response.writeHead(status, Object.fromEntries(sent));
        if (!body) return response.end();
        return Readable.fromWeb(body)
          .on('error', () => response.destroy())
          .pipe(response);
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key };
}

export interface Running {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  stderr(): string;
}

/** It is killed when the test has ended. */
export function start(argv: readonly string[], cwd: string, env: Record<string, string>): Running {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let talk = '';
  child.stderr.on('data', (part: Buffer) => (talk += part.toString()));
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, ended, stderr: () => talk };
}
