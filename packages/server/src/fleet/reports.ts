import { performance } from 'node:perf_hooks';
import type { Forget } from '@headrace/runner/registration';
import type { Db } from '../db/database.ts';
import { recordReports } from '../runner/store.ts';
import type { Report } from '../runner/store.ts';
import { recordSizes } from '../workspaces/index.ts';
import { findForgettable } from './forget.ts';

/** Reports of so long are recorded together: of 300 runners about ten at once. */
const GATHER_MS = 100;
/** How often one runner's tasks and workspaces are compared with the database by this process. */
const COMPARE_MS = 6_000;

const NOTHING: Forget = { tasks: [], workspaces: [], groups: [] };

/** Null for a runner that counts as gone. */
type Answer = Forget | null;

interface Waiting {
  report: Report;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Records what runners report, and says what they may forget. `measures`: what their workspaces take, too. */
export class Reports {
  readonly #db: Db;
  readonly measures: boolean;
  /** When each runner was compared last. */
  readonly #compared = new Map<string, number>();
  #waiting: Waiting[] = [];

  constructor(db: Db, measures = false) {
    this.#db = db;
    this.measures = measures;
  }

  take(report: Report): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => void this.#record(), GATHER_MS);
      this.#waiting.push({ report, resolve, reject });
    });
  }

  async #record(): Promise<void> {
    const all = this.#waiting;
    this.#waiting = [];
    // A runner that calls again before its first call was answered is answered twice.
    const reports = [...new Map(all.map(({ report }) => [report.bootId, report])).values()];
    try {
      const gone = await recordReports(this.#db, reports);
      const due = reports.filter(({ bootId }) => !gone.has(bootId) && this.#isDue(bootId));
      const forget = due.length > 0 ? await findForgettable(this.#db, due) : new Map<string, Forget>();
      await this.#recordSizes(reports.filter(({ bootId }) => !gone.has(bootId)));
      for (const { bootId } of due) this.#compared.set(bootId, performance.now());
      for (const { report, resolve } of all)
        resolve(gone.has(report.bootId) ? null : (forget.get(report.bootId) ?? NOTHING));
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  async #recordSizes(reports: readonly Report[]): Promise<void> {
    if (!this.measures) return;
    const measured = reports.flatMap(({ bootId, sizes }) => (sizes ? [{ runnerId: bootId, sizes }] : []));
    if (measured.length > 0) await recordSizes(this.#db, measured);
  }

  #isDue(bootId: string): boolean {
    const now = performance.now();
    for (const [id, at] of this.#compared) {
      if (now - at < 2 * COMPARE_MS) break;
      this.#compared.delete(id);
    }
    const last = this.#compared.get(bootId);
    if (last === undefined) return true;
    if (now - last < COMPARE_MS) return false;
    // The oldest stay in front.
    this.#compared.delete(bootId);
    return true;
  }
}
