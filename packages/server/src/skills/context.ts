/**
 * What the agent of a run is told: the instructions of both levels, and the skills, as they are when it
 * begins. The files are in the folder $HEADRACE_CONTEXT of its sandbox, which the runner keeps by a key.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TurnRequest } from '@headrace/runner/protocol';
import { TAR_END, tarHeader, tarPadding } from '@headrace/runner/tar';
import type { Context } from '../context.ts';
import type { RunContext, RunRow } from '../db/schema.ts';
import { WorkspaceUnavailable } from '../runner/workspace-unavailable.ts';
import { sourceFault } from '../sources/index.ts';
import { ObjectNotFoundError } from '../storage/object-store.ts';
import { readTar } from '../trees/tar-reader.ts';

/**
 * An expression, so that it costs a run no statement: the RunContext of a project now, null where it is told
 * nothing.
 */
export const contextNow = (of: { org_id: string; project_id: string }): RawBuilder<RunContext> =>
  sql<RunContext>`(
    select case when told.is_there or skills.list is not null then
      jsonb_build_object('instructions', told.instructions, 'skills', coalesce(skills.list, '[]')) end
    from (
      select jsonb_build_array(o.settings->'instructions', p.settings->'instructions') as instructions,
        coalesce(o.settings->>'instructions', p.settings->>'instructions') is not null as is_there
      from projects p join organizations o on o.id = p.org_id where p.id = ${of.project_id}
    ) told, (
      select jsonb_agg(jsonb_build_object('name', name, 'description', description, 'sha256', sha256,
        'archive_key', archive_key) order by name) as list
      from (
        select distinct on (name) * from skills
        where org_id = ${of.org_id} and (project_id = ${of.project_id} or project_id is null)
        order by name, project_id nulls last
      ) named
    ) skills
  )`;

/** The part of a turn's request; nothing where the agent is told nothing. No project gets a folder of another one's key. */
export function toldOf({
  project_id: projectId,
  context,
}: Pick<RunRow, 'project_id' | 'context'>): Pick<TurnRequest, 'context' | 'told'> {
  if (context === null) return {};
  const instructions = instructionsOf(context);
  const { skills } = context;
  if (instructions === null && skills.length === 0) return {};
  const key = createHash('sha256').update(
    JSON.stringify([projectId, instructions, skills.map(({ name, sha256 }) => [name, sha256])]),
  );
  return {
    context: key.digest('hex'),
    told: { instructions, skills: skills.map(({ name, description }) => ({ name, description })) },
  };
}

/** The organization's, then, after a blank line, the app's; null where there are none. */
function instructionsOf({ instructions }: RunContext): string | null {
  const given = instructions.filter((text) => text !== null && text.trim() !== '');
  return given.length === 0
    ? null
    : given.map((text, i) => (i < given.length - 1 ? text!.trimEnd() : text)).join('\n\n');
}

/** The files of the folder as a tar, one skill after the other. Its reader sees 503
 * where the store is away, and `WorkspaceUnavailable` where an archive is damaged. */
export function contextTar({ store }: Pick<Context, 'store'>, context: RunContext): Readable {
  async function* chunks(): AsyncGenerator<Buffer> {
    const instructions = instructionsOf(context);
    if (instructions !== null)
      yield entry({ path: 'instructions.md', bytes: Buffer.from(instructions), executable: false });
    for (const { name, archive_key: key } of context.skills) {
      const archive = await store.get(key).catch((error: unknown) => {
        throw error instanceof ObjectNotFoundError ? damaged(name, error) : sourceFault(error);
      });
      try {
        for await (const { path, executable, read } of readTar(Readable.from([archive]).pipe(createGunzip())))
          yield entry({ path: `skills/${name}/${path}`, bytes: await read(), executable });
      } catch (error) {
        throw damaged(name, error);
      }
    }
    yield TAR_END;
  }
  return Readable.from(chunks(), { objectMode: false });
}

const damaged = (name: string, cause: unknown) =>
  new WorkspaceUnavailable(`The files of the skill ${name} are damaged or lost. Set the skill again.`, {
    cause,
  });

const entry = ({ path, bytes, executable }: { path: string; bytes: Buffer; executable: boolean }): Buffer =>
  Buffer.concat([tarHeader({ path, byteSize: bytes.length, executable }), bytes, tarPadding(bytes.length)]);
