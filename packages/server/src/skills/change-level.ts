/** Setting and deleting a skill of a level. */
import { audit } from '../audit/index.ts';
import type { Context } from '../context.ts';
import type { SkillRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import type { Level } from '../environment/index.ts';
import { ApiError } from '../http/errors.ts';
import type { Call, Prepared } from '../http/operation.ts';
import type { Claim } from '../http/write-request.ts';
import { newId } from '../ids.ts';
import {
  accepted,
  commitObject,
  discardUncommitted,
  expireReplaced,
  faultsMapped,
  putObject,
  stagedTooLong,
} from '../sources/index.ts';
import type { SkillRequest } from '../sources/index.ts';
import { requireName } from './names.ts';
import { findSkill, loadSkill } from './policy.ts';
import { removeSkill, saveSkill } from './store.ts';
import { skillView } from './view.ts';

const LEVEL_SKILLS = 50;
/** A run reads its skills between its beginning and the start of its sandbox, which a crash delays by two hours at most. */
const KEPT_SECONDS = 3 * 60 * 60;

/** How a write finds its level: to read, and locked in its transaction. */
interface LevelOf {
  find(call: Call): Promise<Level>;
  lock(tx: Tx, call: Call): Promise<Level>;
}

export async function prepareSkill(call: Call): Promise<Prepared<SkillRequest>> {
  const name = requireName(call.params.name!);
  const prepared = accepted(await faultsMapped(call.ctx.pool.parseSkill(call.bytes, name)));
  return { bodyDigest: prepared.fingerprint, prepared };
}

/**
 * Sets the skill that the path names to just what the body says; it keeps its id. Its files are put only where
 * it has others, or where its object is missing or has another size.
 */
export async function setSkill(call: Call, claim: Claim, { skill, levelOf }: Setting) {
  const { ctx } = call;
  const level = await levelOf.find(call);
  const known = await findSkill(ctx.db, level, call.params.name!);
  if (known?.sha256 === skill.sha256 && (await isStored(ctx, known))) {
    const same = await save(call, claim, { skill, levelOf }, null);
    if (same) return same;
  }
  const object = newObject(level);
  await putObject(ctx, object, skill.archive);
  try {
    return (await save(call, claim, { skill, levelOf }, object.key))!;
  } catch (error) {
    await discardUncommitted(ctx.db, object).catch(() => null);
    throw error;
  }
}

async function isStored({ store }: Context, { archive_key: key, archive_byte_size: byteSize }: SkillRow) {
  return (await faultsMapped(store.head(key)))?.byteSize === byteSize;
}

interface Setting {
  skill: SkillRequest;
  levelOf: LevelOf;
}

function newObject({ org_id: orgId, project_id: projectId }: Level) {
  const folder = projectId === null ? `organizations/${orgId}` : `projects/${projectId}`;
  return { org_id: orgId, project_id: projectId, key: `${folder}/skills/${newId('pack')}` };
}

/** Null without a key, where the stored files are not these any more. */
function save(call: Call, claim: Claim, { skill, levelOf }: Setting, key: string | null) {
  return transaction(call.ctx, async (tx) => {
    const level = await levelOf.lock(tx, call);
    const name = call.params.name!;
    const before = await findSkill(tx.db, level, name);
    if (key === null && before?.sha256 !== skill.sha256) return null;
    if (!before) await requireRoom(tx, level);
    if (key !== null && !(await commitObject(tx, key))) throw stagedTooLong();
    const row = await saveSkill(tx, {
      org_id: level.org_id,
      id: before?.id ?? newId('skl'),
      project_id: level.project_id,
      name,
      description: skill.description,
      file_count: skill.fileCount,
      byte_size: skill.byteSize,
      sha256: skill.sha256,
      // The bytes of a kept object may be those of another version of the compressor.
      ...(key === null
        ? archiveOf(before!)
        : {
            archive_key: key,
            archive_sha256: skill.archiveSha256,
            archive_byte_size: skill.archive.length,
          }),
    });
    if (before && key !== null) await expireArchive(tx, call.ctx, before);
    await audit(tx, call, 'skill.set', row.id);
    const result = answer(level, row);
    await claim.settle(tx, result);
    return result;
  });
}

const archiveOf = ({ archive_key, archive_sha256, archive_byte_size }: SkillRow) => ({
  archive_key,
  archive_sha256,
  archive_byte_size,
});

export async function deleteSkill(tx: Tx, call: Call, level: Level) {
  const row = await loadSkill(tx.db, level, call.params.name!);
  await removeSkill(tx, row.id);
  await expireArchive(tx, call.ctx, row);
  await audit(tx, call, 'skill.deleted', row.id);
  return answer(level, row);
}

const expireArchive = (tx: Tx, { config }: Pick<Context, 'config'>, { archive_key: key }: SkillRow) =>
  expireReplaced(tx, [key], Math.max(config.cleanupGraceSeconds, KEPT_SECONDS));

const answer = ({ scope }: Level, row: SkillRow) => ({
  status: 200,
  body: { ok: true, skill: skillView(row) },
  ...(scope && { scope }),
});

/** Throws `conflict` where the level has no room for one more. */
async function requireRoom(tx: Tx, { org_id: orgId, project_id: projectId }: Level): Promise<void> {
  const { count } = await tx.db
    .selectFrom('skills')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('project_id', 'is not distinct from', projectId)
    .executeTakeFirstOrThrow();
  if (count < LEVEL_SKILLS) return;
  const whose = projectId === null ? 'An organization' : 'An app';
  throw new ApiError('conflict', `${whose} has at most ${LEVEL_SKILLS} skills. Delete one first.`);
}
