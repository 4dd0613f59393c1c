/**
 * What a retry of a settled write is answered: the same, byte for byte but for secrets; and another payload
 * under its key nothing but a conflict.
 */
import type { Random } from '../../harness/random.ts';
import { SKILL, skillFile } from './exhibits.ts';
import { errorOf } from './judge.ts';
import { sample } from './sample.ts';
import type { Json, JsonObject } from './sample.ts';
import { defined, requestOf, withKey } from './specimen.ts';
import type { Specimen } from './specimen.ts';
import type { Answer, Request, Wire } from './wire.ts';

interface Replayed {
  request: Request;
  answer: Answer;
  faults: string[];
}

/** Undefined where the answer is a stream, which is replayed as JSON. */
export async function replay(wire: Wire, specimen: Specimen, first: Answer): Promise<Replayed | undefined> {
  if (first.headers.get('content-type')?.[0]?.startsWith('text/event-stream')) return undefined;
  const request = requestOf(specimen);
  const answer = await wire.send(request);
  const faults: string[] = [];
  if (answer.headers.get('idempotent-replayed')?.[0] !== 'true')
    faults.push(`the retry is answered ${answer.status} ${errorOf(answer)?.code ?? ''}, not with a replay`);
  else if (answer.status !== first.status || withoutSecrets(answer) !== withoutSecrets(first))
    faults.push('the replay differs');
  else if (answer.headers.get('x-operation-id')?.[0] !== first.headers.get('x-operation-id')?.[0])
    faults.push('the replay names another receipt');
  return { request, answer, faults };
}

/** The bytes, except a secret that was shown once: then all else. */
function withoutSecrets({ body }: Answer): string {
  const text = body.toString();
  if (!text.includes('"secretUnavailable":')) return text;
  const shown = JSON.parse(text) as JsonObject;
  for (const name of ['key', 'secret', 'webhookSecret', 'token', 'secretUnavailable']) delete shown[name];
  return JSON.stringify(shown);
}

/** Undefined where there is no other payload. */
export async function conflict(
  wire: Wire,
  specimen: Specimen,
  random: Random,
): Promise<Replayed | undefined> {
  const { operation, body, key } = specimen;
  if (!operation.body || !body) return undefined;
  const drawn = {
    ...body,
    ...(sample(operation.body.schema, random, 'rich') as JsonObject),
    ...KEPT[operation.base],
  };
  const other = withKey(defined(drawn), key);
  if (JSON.stringify(other) === JSON.stringify(body) || operation.body.faultsOf(other).length)
    return undefined;
  const request = requestOf({ ...specimen, body: other });
  const answer = await wire.send(request);
  const { code } = errorOf(answer) ?? {};
  return {
    request,
    answer,
    faults:
      code === 'idempotency_conflict' && answer.status === 409
        ? []
        : [`another payload under the key is answered ${answer.status} ${code ?? ''}`],
  };
}

const DEFINITION = { prompt: 'Another', trigger: undefined, filter: undefined, baseBranch: undefined };

/** Texts of which the document cannot say what they have to be like. */
const KEPT: Record<string, Record<string, Json | undefined>> = {
  'sources.importSource': { files: [{ path: 'another', content: '' }] },
  'skills.setAppSkill': { files: [skillFile(SKILL), { path: 'another', content: '' }] },
  'skills.setOrganizationSkill': { files: [skillFile(SKILL), { path: 'another', content: '' }] },
  'scm.createRepository': { files: [{ path: 'another', content: '' }], defaultBranch: 'main' },
  'scm.createInstallation': { baseUrl: 'https://git.example.com/api/v3', token: 'another', app: undefined },
  'scm.updateInstallation': { token: 'another', app: undefined },
  'pullRequests.createPullRequest': { number: undefined, base: 'main' },
  'pullRequests.updatePullRequest': { base: 'main' },
  'automations.createAutomation': DEFINITION,
  'automations.updateAutomation': DEFINITION,
  'edits.createEdit': { changes: [{ path: 'another', content: '' }] },
};
