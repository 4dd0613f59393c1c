/**
 * A violation of the protocol or of a limit by the agent, as a sentence for a person; it ends the turn as
 * `agent_error`.
 */
export class AcpFault extends Error {
  override readonly name: string = 'AcpFault';
}

/** The agent's stdout has ended, or its process has. */
export class AgentGone extends AcpFault {
  override readonly name = 'AgentGone';
}

/** An error in the agent's answer to a request, or in the answer to one of its own. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const RPC = { methodNotFound: -32601, invalidParams: -32602, internal: -32603, authRequired: -32000 };
