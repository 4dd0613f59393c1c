import type { PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { startConsumer } from '../events/index.ts';
import type { When } from '../jobs/every.ts';
import { fanOut } from './fan-out.ts';
import { startSender } from './sender.ts';

/** Starts this process's reader and sender; one process at a time does each. */
export function startWebhooks(ctx: Context, connection: PoolConfig, when: When): { stop(): Promise<void> } {
  const consuming = startConsumer(ctx, fanOut(ctx), when);
  const sender = startSender(ctx, connection, undefined, when);
  return {
    async stop() {
      await Promise.all([consuming.stop(), sender.stop()]);
    },
  };
}
