/** A thread with a server to preview, and visits to that by its Host name. */
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TestServer } from '../service.fixture.ts';

const SERVER = `import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
let streams = 0;
const server = createServer((req, res) => {
  if (req.url === '/file')
    try { return res.end(readFileSync('file.txt')); } catch { return res.writeHead(404).end(); } // while it is written
  if (req.url === '/big') return res.setHeader('content-length', 8_000_000).end(Buffer.alloc(8_000_000, 'x'));
  if (req.url === '/break') return res.writeHead(200, { 'content-length': '100' }).write('half', () => req.socket.destroy());
  if (req.url === '/silent') return req.socket.destroy();
  if (req.url === '/streams') return res.end(String(streams));
  if (req.url === '/stream') { streams++; res.on('close', () => { streams--; }); return res.write('first'); }
  if (req.url === '/never') return;
  if (req.url === '/pause') return res.write('first');
  if (req.url === '/early') return res.writeHead(413).end('too large');
  if (req.url === '/framed') return res.writeHead(200, { 'x-frame-options': 'DENY', 'content-security-policy': ["default-src 'self'; Frame-Ancestors 'none'; img-src *, frame-ancestors 'self'", "frame-ancestors 'none'"], 'referrer-policy': 'origin' }).end();
  if (req.url === '/beyond') return res.writeHead(200, { 'clear-site-data': '"*"', 'alt-svc': 'h2="other:443"', 'set-cookie': ['a=1;DOMAIN = localhost ;Path=/; Domain=.example.com;HttpOnly', 'headrace_session =x', 'b=domain; domain', '__Host-c=3; Path=/; Secure'] }).end();
  if (req.url === '/cookies') return res.writeHead(200, { 'set-cookie': ['a=1; Domain=localhost; Path=/', 'headrace_session=stolen; Path=/'], 'content-security-policy': "default-src 'self'", 'x-two': ['1', '2'] }).end();
  const hash = createHash('sha256');
  let bytes = 0;
  req.on('data', (c) => { hash.update(c); bytes += c.length; });
  req.on('end', () => res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, bytes, sha256: hash.digest('hex') })));
});
server.on('upgrade', (req, socket) => {
  if (req.url === '/refused') return socket.end('HTTP/1.1 403 Forbidden\\r\\ncontent-length: 2\\r\\n\\r\\nno');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: Upgrade\\r\\nx-name: bücher\\r\\nx-saw: ' + (req.headers.cookie ?? 'none') + '\\r\\n\\r\\n');
  socket.pipe(socket);
});
server.listen(3210);
`;

export interface Visit {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** After an upgrade only. */
  socket?: Duplex;
}

/**
 * Sends one request to the service's address with a preview's name as Host. Rejects where the answer breaks
 * off.
 */
export function visit(
  server: TestServer,
  url: string,
  path = '/',
  options: { method?: string; headers?: Record<string, string>; body?: Buffer | string; slow?: boolean } = {},
): Promise<Visit> {
  const { hostname, port } = new URL(server.base);
  return new Promise((resolve, reject) => {
    const asked = request({
      host: hostname,
      port,
      path,
      method: options.method ?? 'GET',
      headers: { host: new URL(url).host, ...options.headers },
      agent: false,
    });
    asked.on('error', reject);
    asked.on('upgrade', (answer, socket) =>
      resolve({ status: answer.statusCode!, headers: answer.headers, text: '', socket }),
    );
    asked.on('response', (answer) => {
      let text = '';
      answer.setEncoding('latin1');
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      answer.on('data', (part: string) => {
        text += part;
        if (!options.slow) return;
        answer.pause();
        setImmediate(() => answer.resume());
      });
    });
    asked.end(options.body);
  });
}

export async function until<T>(look: () => Promise<T>, what: string): Promise<NonNullable<T>> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

/** An app with a thread whose source holds the server, or another one. */
export async function newBench(server: TestServer, code = SERVER) {
  const app = (await server.call('POST', '/api/platform/v1/apps', { name: 'Previewed' })).body.app;
  const url = `/api/platform/v1/apps/${app.id}`;
  const { source } = (
    await server.call('POST', `${url}/sources`, {
      files: [
        { path: 'server.mjs', content: code },
        { path: 'file.txt', content: 'first' },
      ],
    })
  ).body;
  await server.call('POST', `${url}/source-head/initialize`, { sourceId: source.id });
  const { thread } = (await server.call('POST', `${url}/threads`, {})).body;
  const threadUrl = `${url}/threads/${thread.id}`;
  const submit = async (command = 'node server.mjs') =>
    (await server.call('POST', `${threadUrl}/previews`, { command, port: 3210 })).body.preview;
  const read = async (id: string, wait = 0) =>
    (await server.call('GET', `${url}/previews/${id}?waitSeconds=${wait}`)).body.preview;
  return {
    url,
    threadUrl,
    appId: app.id as string,
    threadId: thread.id as string,
    sourceId: source.id as string,
    submit,
    read,
    ready: async (command?: string) => read((await submit(command)).id, 30),
  };
}
