/**
 * What an agent did against the protocol or a limit, as a sentence for a person; it ends the turn as
 * `agent_error`.
 */
export class AcpFault extends Error {
  override readonly name: string = 'AcpFault';
}

/** The agent's stdout has ended, or its process. */
export class AgentGone extends AcpFault {
  override readonly name = 'AgentGone';
}

/** An error that the agent answered a request with, or that is answered to its own. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const RPC = { methodNotFound: -32601, invalidParams: -32602, internal: -32603, authRequired: -32000 };
