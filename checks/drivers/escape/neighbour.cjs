/**
 * Another tenant's program: what it holds in its sandbox is the canary. NEIGHBOUR = { id, port }; its
 * secret comes as a token does, in the environment.
 */
const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:net');
const { id, port } = JSON.parse(process.env.NEIGHBOUR);
const secret = process.env.HEADRACE_TOKEN;
for (const place of ['/tmp', '/dev/shm', '/var/tmp']) {
  mkdirSync(`${place}/${id}`, { recursive: true });
  writeFileSync(`${place}/${id}/secret.txt`, secret, { mode: 0o644 });
}
rmSync(`/tmp/${id}/socket`, { force: true });
const say = () => createServer((peer) => peer.on('error', () => {}).end(secret));
say().listen(port, '127.0.0.1', () =>
  say().listen(`/tmp/${id}/socket`, () => say().listen(`\0${id}`, () => process.stdout.write('ready\n'))),
);
process.stdin.resume().once('end', () => process.exit());
