import type { PoolConfig } from 'pg';
import type { Context } from '../context.ts';
import { startConsumer } from '../events/index.ts';
import { fanOut } from './fan-out.ts';
import { startSender } from './sender.ts';

/** Starts this process's reader and sender; one process at a time does each. */
export function startWebhooks(ctx: Context, connection: PoolConfig): { stop(): Promise<void> } {
  const consuming = startConsumer(ctx, fanOut(ctx));
  const sender = startSender(ctx, connection);
  return {
    async stop() {
      await Promise.all([consuming.stop(), sender.stop()]);
    },
  };
}
