/**
 * A push, from what it would move to what it moved. Before git moves anything there is a job that looks at the
 * repository a while later, whatever becomes of this process; after it, one that looks at once, and the audit's
 * entry, before the client has its whole answer.
 */
import type { Context } from '../../context.ts';
import { audit } from '../../audit/index.ts';
import type { Actor } from '../../audit/index.ts';
import { transaction } from '../../db/transaction.ts';
import type { RepositoryRow } from '../../db/schema.ts';
import { isBranchName } from '../../git/ref-names.ts';
import { awaitUnlocked } from '../../git/stale-locks.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { withdrawJob } from '../../jobs/store.ts';
import { lookSoon } from '../look-soon.ts';
import type { Backend } from './backend.ts';
import { answerHooks } from './hook-channel.ts';

/** Names that one push moves. */
const MAX_COMMANDS = 50_000;
/** By then git has moved what it moves, in all but the largest pushes. */
const LOOK_LATER_SECONDS = 10;
const NOTHING = '0'.repeat(40);
const PUSHED = /^refs\/(heads|tags)\//;

/** As git gives it to its hooks. An id of zeros: the name is made, or deleted. */
interface Command {
  oldId: string;
  newId: string;
  ref: string;
}

interface Pushed {
  dir: string;
  repository: Pick<RepositoryRow, 'id' | 'org_id'>;
  by: Actor;
}

/** Reads `<old> <new> <ref>` lines; null where a name is not UTF-8, or there are too many. */
function readCommands(text: Buffer | null): Command[] | null {
  if (text === null) return null;
  let lines: string[];
  try {
    lines = new TextDecoder('utf-8', { fatal: true }).decode(text).split('\n').filter(Boolean);
  } catch {
    return null;
  }
  if (lines.length > MAX_COMMANDS) return null;
  return lines.map((line) => ({ oldId: line.slice(0, 40), newId: line.slice(41, 81), ref: line.slice(82) }));
}

export class Push {
  readonly #ctx: Context;
  readonly #of: Pushed;
  #jobId: number | null = null;
  /** From here on git moves names, in milliseconds: it is no longer stopped. */
  isMoving = false;

  constructor(ctx: Context, of: Pushed) {
    this.#ctx = ctx;
    this.#of = of;
  }

  /**
   * Answers the hooks of a push; resolves when git has ended and it is recorded what moved. `sent`: the whole body
   * has come, and is no refusal.
   */
  async run({ input, hooks, ended }: Backend, sent: Promise<void>): Promise<void> {
    const reported = await answerHooks(hooks!, async (asked) => {
      // git has all that it reads.
      input.destroy();
      const isWhole = await sent.then(
        () => true,
        () => false,
      );
      if (!isWhole) return 'no The push has not come whole.';
      try {
        return await this.#begin(asked);
      } catch (err) {
        this.#ctx.log.warn({ err }, 'a push could not be recorded, so it is refused');
        return 'no The service cannot take a push now. Retry in a moment.';
      }
    });
    await ended;
    const moved = readCommands(reported) ?? [];
    // Where git does not say what it moved, it may have been killed: the later look stays.
    if (moved.length) await this.#end();
  }

  /** The answer to the hook that asks whether git may move these names: see hooks/pre-receive. */
  async #begin(asked: Buffer | null): Promise<string> {
    const all = readCommands(asked);
    if (all === null) return `no A push moves at most ${MAX_COMMANDS} names, and these are UTF-8.`;
    // git refuses all others, one by one.
    const commands = all.filter(({ ref }) => PUSHED.test(ref));
    if (!commands.length) return 'ok';
    const wrong = commands.find(({ ref }) => !isBranchName(ref.replace(PUSHED, '')));
    if (wrong) return `no This service takes no ${wrong.ref}.`;
    await awaitUnlocked(
      this.#of.dir,
      commands.map(({ ref }) => ref),
    );
    const row = await this.#record();
    if (!row) return 'no The repository is deleted.';
    const main = commands.find(({ ref }) => ref === `refs/heads/${row.default_branch}`);
    if (main?.newId === NOTHING) return 'no The default branch is not deleted.';
    this.isMoving = true;
    return main && main.oldId !== NOTHING ? `forward ${main.oldId} ${main.newId}` : 'ok';
  }

  async #record(): Promise<Pick<RepositoryRow, 'default_branch'> | undefined> {
    const { id } = this.#of.repository;
    return transaction(this.#ctx, async (tx) => {
      const options = { delaySeconds: LOOK_LATER_SECONDS };
      this.#jobId = await enqueue(tx, 'scm.look-repository', { repositoryId: id }, options);
      return tx.db
        .selectFrom('repositories')
        .select('default_branch')
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
    });
  }

  async #end(): Promise<void> {
    const { repository, by } = this.#of;
    await transaction(this.#ctx, async (tx) => {
      await withdrawJob(tx, this.#jobId!);
      await lookSoon(tx, repository);
      await audit(tx, by, 'repository.pushed', repository.id);
    });
  }
}
