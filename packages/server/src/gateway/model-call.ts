import type { IncomingMessage } from 'node:http';
import type { ProviderEntry } from '../config-file.ts';
import type { Context } from '../context.ts';
import type { CallingRun } from './caller.ts';
import type { RelayTo } from './relay.ts';
import type { Endpoint } from './route.ts';

export type CallContext = Pick<Context, 'config' | 'db' | 'bus' | 'log' | 'metrics' | 'secretKey'>;

/** One call of a run's agent. */
export interface ModelCall {
  run: CallingRun;
  provider: ProviderEntry;
  endpoint: Endpoint;
  /** The organization's key of the provider. */
  key: string | null;
  req: IncomingMessage;
  /** Where the answer goes. */
  to: RelayTo;
}
