/** Compares the tables with the answers that callers received. */
import type pg from 'pg';

/** The answer that the caller of an operation received. */
export interface Written {
  /** The unique name of its app. */
  name: string;
  appId: string;
  sourceId?: string;
  threadId?: string;
}

export interface Verdict {
  missing: number;
  doubled: number;
  /** Answers that do not match the tables. */
  different: number;
  failures: string[];
}

interface Row {
  name: string;
  apps: string[];
  sources: string[];
  threads: string[];
}

export async function judge(table: pg.Client, written: readonly Written[]): Promise<Verdict> {
  const { rows } = await table.query<Row>(`
    select name, array_agg(id) as apps,
      array(select s.id from sources s where s.project_id = any(array_agg(p.id))) as sources,
      array(select t.id from threads t where t.project_id = any(array_agg(p.id))) as threads
    from projects p where kind = 'platform' group by name`);
  const byName = new Map(rows.map((row) => [row.name, row]));
  const verdict: Verdict = { missing: 0, doubled: 0, different: 0, failures: [] };
  for (const { name, appId, sourceId, threadId } of written) {
    const { apps = [], sources = [], threads = [] } = byName.get(name) ?? {};
    compare(`the app of ${name}`, apps, appId);
    if (sourceId) compare(`the source of ${name}`, sources, sourceId);
    if (threadId) compare(`the thread of ${name}`, threads, threadId);
  }
  return verdict;

  function compare(what: string, there: readonly string[], answered: string): void {
    if (there.length === 1 && there[0] === answered) return;
    const fault = there.length === 0 ? 'missing' : there.length > 1 ? 'doubled' : 'different';
    verdict[fault]++;
    verdict.failures.push(
      `${what} is ${fault}: ${answered} was answered, there is ${there.join(', ') || 'none'}`,
    );
  }
}
