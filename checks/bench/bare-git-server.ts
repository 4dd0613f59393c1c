/**
 * What git over HTTP is measured against: git's http-backend behind a bare Node server; no authentication, rate
 * limit, bounds or record of pushes. Started by benchmarks/git-http.ts with the folder of the repositories; prints
 * its address.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gitEnvironment } from '../../packages/server/src/git/run-git.ts';

const root = process.argv[2]!;

const server = createServer((request, response) => {
  const [path, query = ''] = request.url!.split('?');
  const { headers } = request;
  const child = spawn('git', ['http-backend'], {
    env: gitEnvironment({
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path!,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method!,
      CONTENT_TYPE: headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  child.stdout.on('data', function begin(data: Buffer) {
    head = Buffer.concat([head, data]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', begin);
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name, value] = line.split(': ') as [string, string];
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`bare server listening on http://127.0.0.1:${port}\n`);
});
