import type { TurnAgent } from '../protocol.ts';

/**
 * The JavaScript prelude of fake agents: `say`, `update`, `ask`, `on.<method>(params, id)`, whose value is
 * the answer.
 */
const PRELUDE = `
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
const update = (u) => say({ method: 'session/update', params: { sessionId: 's', update: u } });
const text = (t) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: t } });
let asked = 0; const answers = new Map();
const ask = (method, params) => new Promise((resolve) => { const id = 'q' + ++asked; answers.set(id, resolve); say({ id, method, params }); });
const on = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: 's' }),
  'session/prompt': () => ({ stopReason: 'end_turn' }),
};
let rest = '';
process.stdin.setEncoding('utf8').on('data', (part) => {
  const lines = (rest + part).split('\\n'); rest = lines.pop();
  for (const line of lines) {
    const m = JSON.parse(line);
    if (m.method === undefined) { answers.get(m.id)?.(m.result ?? { error: m.error }); continue; }
    Promise.resolve().then(() => { if (!on[m.method]) throw { code: -32601, message: 'no ' + m.method }; return on[m.method](m.params, m.id); })
      .then((result) => say({ id: m.id, result }), (e) => say({ id: m.id, error: { code: e.code ?? -32603, message: e.message } }));
  }
}).on('end', () => process.exit());
`;

/** An agent that is a small script and speaks ACP as its code says. */
export function fakeAgent(code: string, more: Partial<TurnAgent> = {}): TurnAgent {
  return {
    name: 'fake',
    command: ['node', '-e', PRELUDE + code],
    folder: null,
    env: {},
    home: {},
    mode: null,
    install: null,
    ...more,
  };
}
