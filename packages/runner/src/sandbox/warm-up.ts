import { rmSync } from 'node:fs';
import { collect } from './collect.ts';
import { COMPILED, GUEST } from './guest.ts';
import { DEFAULT_LIMITS, WORKSPACE } from './driver.ts';
import { makeSandboxFolder, startSandbox, type Host } from './host.ts';

const MESSAGES = [
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } },
  { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: WORKSPACE, mcpServers: [] } },
];

/**
 * Lets V8 compile the built-in model agent once, in a sandbox that may write the compile cache and sees
 * nobody's files; all others see the cache read-only. Runs in the background during the runner's start.
 */
export async function warmUp(host: Host): Promise<void> {
  if (!host.guest.isCold || !(await host.guest.ready('headrace'))) return;
  let folder: string | undefined;
  try {
    folder = makeSandboxFolder(host, 'warm-up');
    const sandbox = startSandbox(host, {
      command: ['node', `${GUEST}/headrace.cjs`],
      env: {
        HEADRACE_WIRE: 'anthropic',
        HEADRACE_MODEL: 'none',
        HEADRACE_GATEWAY: 'http://127.0.0.1:1/none/v1',
        HEADRACE_TOKEN: 'none',
      },
      limits: DEFAULT_LIMITS,
      binds: [
        { host: folder, inside: WORKSPACE, readOnly: true },
        { host: host.guest.compiled, inside: `${GUEST}/${COMPILED}`, readOnly: false },
      ],
    });
    let answers = 0;
    sandbox.stdout.on('data', (part: Buffer) => {
      answers += part.reduce((lines, byte) => lines + Number(byte === 0x0a), 0);
      if (answers >= MESSAGES.length) sandbox.stdin.end();
    });
    sandbox.stdin.write(MESSAGES.map((message) => `${JSON.stringify(message)}\n`).join(''));
    await collect(sandbox, { maxBytes: 1024 ** 2, timeoutMs: 10_000 });
    host.guest.keepCompiled();
  } catch (error) {
    process.stderr.write(`The compile cache could not be made: ${(error as Error).message}\n`);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
