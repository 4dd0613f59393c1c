/**
 * Preloaded into workers. The first that is about to send files to a worktree while the file `TORTURE_STOP_FILE` is there stops before it does,
 * as a process on a suspended machine; then it sends them.
 */
import http, { Agent } from 'node:http';
import type { RequestOptions } from 'node:http';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const file = process.env['TORTURE_STOP_FILE']!;
const send = http.request as (options: RequestOptions) => http.ClientRequest;

http.request = ((options: RequestOptions) => {
  if (!/\/workspaces\/[^/]+\/patch$/.test(options.path ?? '') || !isFirst()) return send(options);
  writeFileSync(`${file}.pid`, String(process.pid));
  process.kill(process.pid, 'SIGSTOP');
  // The connections that were kept open have ended meanwhile.
  const request = send({ ...options, agent: new Agent() });
  const tell = (how: string) => existsSync(`${file}.end`) || writeFileSync(`${file}.end`, how);
  request.once('response', ({ statusCode }) => tell(String(statusCode)));
  request.once('error', (error) => tell(error.message));
  return request;
}) as typeof http.request;
syncBuiltinESMExports();

function isFirst(): boolean {
  try {
    renameSync(file, `${file}.taken`);
    return true;
  } catch {
    return false;
  }
}
