/**
 * Reads the repositories of an installation: unasked every ten minutes, after a new credential, and when
 * asked. A repository is known by provider, address and the provider's own id: a new name changes its row, and
 * of two installations that see it the older one has it.
 */
import type { Context } from '../context.ts';
import type { InstallationRow, RepositoryRow } from '../db/schema.ts';
import { transaction } from '../db/transaction.ts';
import type { Tx } from '../db/transaction.ts';
import { mayBegin } from '../http/capabilities.ts';
import { newId } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { every } from '../jobs/every.ts';
import type { When } from '../jobs/every.ts';
import { ProviderError } from './provider.ts';
import type { ProviderRepository } from './provider.ts';
import { providerOf } from './providers.ts';
import { readBoundRepositories } from './read-bound.ts';
import {
  deleteOldDeliveries,
  insertRepository,
  markGone,
  markSynced,
  saveRepository,
  takeDueInstallations,
  touchInstallation,
} from './store.ts';
import { syncOthers, syncSoon } from './sync-soon.ts';

const LOOK_MS = 15_000;
const SYNC_SECONDS = 600;
const BATCH = 100;

/** What follows a repository's name elsewhere. */
type RenameRepository = (db: Tx['db'], repositoryId: string, fullName: string) => Promise<void>;

export async function syncRepositories(
  ctx: Context,
  job: Job<'scm.sync'>,
  rename: RenameRepository,
): Promise<void> {
  const installation = await ctx.db
    .selectFrom('installations')
    .selectAll()
    .where('id', '=', job.payload.installationId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!installation || !(await mayBegin(ctx, installation.org_id, 'sourceControl'))) return;
  const seen: string[] = [];
  try {
    let batch: ProviderRepository[] = [];
    const store = async () => {
      await storeBatch(ctx, job, { installation, batch, rename });
      batch = [];
    };
    for await (const one of providerOf(installation).listRepositories({ ctx, installation }, job.signal)) {
      seen.push(one.externalId);
      batch.push(one);
      if (batch.length === BATCH) await store();
    }
    await store();
  } catch (err) {
    if (!(err instanceof ProviderError)) throw err;
    // The installation's error says it; what is known stays as it is.
    ctx.log.warn({ err, installation: installation.id }, "an installation's repositories could not be read");
    await touchInstallation(ctx.db, installation.id);
    return;
  }
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    if ((await markGone(tx, installation.id, seen)) > 0) await syncOthers(tx, installation);
    await markSynced(tx, installation.id);
  });
  await readBoundRepositories(ctx, installation, job.signal);
}

interface Batch {
  installation: InstallationRow;
  batch: ProviderRepository[];
  rename: RenameRepository;
}

async function storeBatch(ctx: Context, job: Job, { installation, batch, rename }: Batch): Promise<void> {
  if (batch.length === 0) return;
  await transaction(ctx, async (tx) => {
    await job.fence(tx);
    // In one order, so that two installations that see the same wait for each other.
    const known = await tx.db
      .selectFrom('repositories as r')
      .innerJoin('installations as i', 'i.id', 'r.installation_id')
      .selectAll('r')
      .select(['i.created_at as installed_at', 'i.deleted_at as uninstalled_at'])
      .where('r.org_id', '=', installation.org_id)
      .where('r.provider', '=', installation.provider)
      .where('r.base_url', '=', installation.base_url ?? '')
      .where(
        'r.external_id',
        'in',
        batch.map(({ externalId }) => externalId),
      )
      .orderBy('r.id')
      .forNoKeyUpdate('r')
      .execute();
    const rows = new Map(known.map((row) => [row.external_id, row]));
    for (const found of batch)
      await storeOne(tx, { installation, found, rename }, rows.get(found.externalId));
  });
}

interface Known extends RepositoryRow {
  installed_at: Date;
  uninstalled_at: Date | null;
}

async function storeOne(
  tx: Tx,
  {
    installation,
    found,
    rename,
  }: { installation: InstallationRow; found: ProviderRepository; rename: RenameRepository },
  known: Known | undefined,
): Promise<void> {
  const columns = {
    full_name: found.fullName,
    name: found.name,
    private: found.private,
    archived: found.archived,
    default_branch: found.defaultBranch,
    url: found.url,
    clone_url: found.cloneUrl,
    ...(found.mergeMethods ? { merge_methods: found.mergeMethods } : {}),
  };
  if (!known)
    return insertRepository(tx, {
      org_id: installation.org_id,
      id: newId('repo'),
      installation_id: installation.id,
      provider: installation.provider,
      base_url: installation.base_url ?? '',
      external_id: found.externalId,
      ...columns,
    });
  const change = {
    ...columns,
    ...(isNextOf(known, installation)
      ? { installation_id: installation.id, gone_at: null, deleted_at: null }
      : {}),
  };
  if (!isChanged(known, change)) return;
  await saveRepository(tx, known.id, change);
  if (known.full_name !== found.fullName) await rename(tx.db, known.id, found.fullName);
}

const isChanged = (known: Known, change: Partial<RepositoryRow>): boolean =>
  Object.entries(change).some(
    ([name, value]) => JSON.stringify(known[name as keyof RepositoryRow]) !== JSON.stringify(value),
  );

/** Whether an installation that sees a repository has it from now on. */
function isNextOf(known: Known, { id, created_at }: InstallationRow): boolean {
  if (known.gone_at !== null || known.deleted_at !== null || known.uninstalled_at !== null) return true;
  const age = created_at.getTime() - known.installed_at.getTime();
  return age < 0 || (age === 0 && id <= known.installation_id);
}

/** Has installations read unasked, and forgets old deliveries. Safe in every process at once. */
export function maintainInstallations(ctx: Context, when: When): void {
  const round = async () => {
    await transaction(ctx, async (tx) => {
      for (const due of await takeDueInstallations(tx, { limit: BATCH, seconds: SYNC_SECONDS }))
        await syncSoon(tx, due);
    });
    await deleteOldDeliveries(ctx.db, 1_000);
  };
  every(LOOK_MS, round, {
    when,
    until: ctx.shutdown,
    onFailure: (err) => ctx.log.debug({ err }, 'due installations could not be read'),
  }).runNow();
}
