import Type from 'typebox';
import { invalid } from '../http/errors.ts';
import { write } from '../http/operation.ts';
import { Body, Ok } from '../http/schemas.ts';
import { requireWorker } from '../processes/index.ts';
import { admit } from './admit.ts';
import { loadAutomation } from './policy.ts';
import { Execution, Payload } from './schemas.ts';
import { executionView } from './view.ts';

const MAX_PAYLOAD_BYTES = 256 * 1024;

export const runAutomation = write({
  name: 'automations.runAutomation',
  summary: 'Run an automation now',
  description:
    'Works also while the automation is disabled or above its monthly limit. With `overlap` `skip`, while an execution is open: 409 `execution_active`.',
  access: { permissions: ['automation:run'] },
  capability: 'automations',
  body: Body({
    payload: Type.Optional({ ...Payload, description: 'At most 256 KiB of JSON, for `{{payload}}`.' }),
  }),
  // This bound counts whitespace; the payload's own bound does not.
  bodyLimit: 4 * MAX_PAYLOAD_BYTES,
  responses: { 202: Ok({ execution: Execution }) },
  async before({ body }) {
    if (Buffer.byteLength(JSON.stringify(body.payload ?? {})) > MAX_PAYLOAD_BYTES)
      throw invalid({ path: '/payload', message: `must have at most ${MAX_PAYLOAD_BYTES} bytes` });
  },
  async handle(tx, call) {
    const { automation, scope } = await loadAutomation(tx.db, call, 'update');
    await requireWorker(call.ctx, tx.db, { mayWait: true });
    const execution = await admit(tx, automation, { kind: 'manual', payload: call.body.payload });
    return { status: 202, scope, body: { ok: true, execution: executionView(execution) } };
  },
});
