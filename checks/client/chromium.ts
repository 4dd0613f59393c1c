/** The scenario in a page of a headless Chromium. The page's server forwards calls to the service, as backends do. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CHROMIUM_NAMES } from '../harness/programs.ts';
import { bundled } from './bundle.ts';
import type { Consumer } from './bundle.ts';
import type { Ground } from './scenario.ts';
import { program } from './tools.ts';

const LIMIT_MS = 180_000;
const SAID_CHARACTERS = 4_000;

const script = (ground: Ground) => `import { scenario } from '../scenario.mjs';
const ground = { ...${JSON.stringify(ground)}, baseUrl: location.origin, strangeUrl: location.origin + '/strange', isBrowser: true };
const report = await scenario(ground).then((done) => ({ done }), (error) => ({ error: error.message }));
await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
`;

export async function inChromium(consumer: Consumer, ground: Ground): Promise<string[]> {
  const chromium = program(CHROMIUM_NAMES, 'apt-get install chromium');
  const profile = mkdtempSync(join(consumer.folder, 'profile-'));
  const page = await serve(await bundled(consumer, script(ground)), ground);
  const child = spawn(
    chromium,
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      page.url,
    ],
    // Its own process group, so that all its processes end with it.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: { ...process.env, HOME: profile } },
  );
  let said = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (part: string) => (said = (said + part).slice(-SAID_CHARACTERS)));
  try {
    const ended = new Promise<never>((_, reject) => {
      child
        .once('error', reject)
        .once('exit', (code) => reject(new Error(`Chromium ended with ${code}: ${said}`)));
      setTimeout(() => reject(new Error(`no report within ${LIMIT_MS / 1000} s: ${said}`)), LIMIT_MS).unref();
    });
    const { done, error } = await Promise.race([page.report, ended]);
    if (done === undefined) throw new Error(error);
    return done;
  } finally {
    page.server.close();
    page.server.closeAllConnections();
    const isGone = new Promise((resolve) => child.once('close', resolve));
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(-child.pid, 'SIGKILL');
      await isGone;
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Report {
  done?: string[];
  error?: string;
}

async function serve(
  code: string,
  ground: Ground,
): Promise<{ url: string; server: Server; report: Promise<Report> }> {
  const { promise: report, resolve } = Promise.withResolvers<Report>();
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url!, 'http://page');
    if (pathname === '/')
      send(outgoing, 'text/html', '<!doctype html><script type="module" src="/main.js"></script>');
    else if (pathname === '/main.js') send(outgoing, 'text/javascript', code);
    else if (pathname === '/report') {
      const parts: Buffer[] = [];
      incoming
        .on('data', (part: Buffer) => parts.push(part))
        .once('end', () => {
          send(outgoing, 'text/plain', '');
          resolve(JSON.parse(Buffer.concat(parts).toString()) as Report);
        });
    } else if (pathname.startsWith('/strange/'))
      pass(ground.strangeUrl + incoming.url!.replace('/strange', ''), incoming, outgoing);
    else pass(ground.baseUrl + incoming.url!, incoming, outgoing);
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server, report };
}

function send(outgoing: ServerResponse, type: string, text: string): void {
  outgoing.writeHead(200, { 'content-type': type });
  outgoing.end(text);
}

/** A connection lost on one side is also cut on the other. */
function pass(url: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const upstream = request(url, { method: incoming.method, headers: incoming.headers });
  upstream
    .once('response', (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.once('aborted', () => outgoing.destroy());
    })
    .once('error', () => outgoing.destroy());
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
}
