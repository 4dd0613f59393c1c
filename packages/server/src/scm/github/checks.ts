/** Check runs and statuses of a commit, as one list of checks. */
import { lastBytes } from '../../cut-text.ts';
import { ProviderError } from '../provider.ts';
import type { AtRepository, Provider, ProviderCheck } from '../provider.ts';
import { askRepository } from './ask.ts';
import type { Place } from './ask.ts';
import type { Connection } from './connection.ts';
import { faultOf, statusOf } from './faults.ts';
import { fetchEnd } from './guarded-fetch.ts';
import { plainText } from './repositories.ts';

const PAGE = 100;
/** Of check runs and of statuses; GitHub itself lists no more than 1,000 suites of a commit. */
const MAX_PAGES = 10;
const MAX_SUMMARY = 10_000;

const SUCCEEDED = new Set(['success', 'neutral', 'skipped']);
const RUNNING = new Set(['queued', 'in_progress', 'waiting', 'requested', 'pending', 'stale', 'expected']);

function stateOfCheck(word: string): ProviderCheck['state'] {
  return SUCCEEDED.has(word) ? 'succeeded' : RUNNING.has(word) ? 'running' : 'failing';
}

export const listChecks: Provider['listChecks'] = (at, commitSha) =>
  askRepository(at, async ({ octokit }, place) => {
    const ref = { ...place, ref: commitSha, per_page: PAGE };
    try {
      const runs = await everyPage(async (page) => {
        const { data } = await octokit.rest.checks.listForRef({ ...ref, filter: 'latest', page });
        return data.check_runs;
      });
      const statuses = await everyPage(async (page) => {
        const { data } = await octokit.rest.repos.getCombinedStatusForRef({ ...ref, page });
        return data.statuses;
      });
      return [...newestOf(runs).map(checkOfRun), ...statuses.map(checkOfStatus)];
    } catch (error) {
      if (statusOf(error) === 422)
        throw new ProviderError({ code: 'not_found', what: 'commit' }, 'there is no such commit');
      if (isWithheld(error)) return null;
      throw error;
    }
  });

/** A permission that the credential does not have, apart from which it is good. */
export const isWithheld = (error: unknown): boolean => {
  const { fault, message } = faultOf(error);
  return (
    fault.code === 'access_denied' && (fault.permission !== undefined || /not accessible by/i.test(message))
  );
};

async function everyPage<T>(read: (page: number) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const found = await read(page);
    all.push(...found);
    if (found.length < PAGE) break;
  }
  return all;
}

interface CheckRun {
  id: number;
  name: string;
  status: string;
  conclusion: string | null;
  html_url: string | null;
  output?: { title: string | null; summary: string | null };
  app: { slug?: string } | null;
}

/** Of several apps' runs of one name, and of a name that was run again, the one made last. */
function newestOf(runs: CheckRun[]): CheckRun[] {
  const newest = new Map<string, CheckRun>();
  for (const run of runs) if ((newest.get(run.name)?.id ?? -1) < run.id) newest.set(run.name, run);
  return [...newest.values()];
}

function checkOfRun(run: CheckRun): ProviderCheck {
  const summary = [run.output?.title, run.output?.summary].filter(Boolean).join('\n');
  return {
    name: plainText(run.name),
    state: stateOfCheck(run.status === 'completed' ? (run.conclusion ?? '') : run.status),
    url: webAddress(run.html_url),
    summary: summary === '' ? null : plainText(summary).slice(0, MAX_SUMMARY),
    // A job of GitHub Actions has the number of its check run.
    logId: run.app?.slug === 'github-actions' ? `job:${run.id}` : `run:${run.id}`,
  };
}

const checkOfStatus = (status: {
  context: string;
  state: string;
  target_url: string | null;
  description: string | null;
}): ProviderCheck => ({
  name: plainText(status.context),
  state: stateOfCheck(status.state),
  url: webAddress(status.target_url),
  summary: status.description === null ? null : plainText(status.description).slice(0, MAX_SUMMARY),
  logId: null,
});

/** An address for people; what others would do with another scheme is theirs. */
const webAddress = (text: string | null | undefined): string | null =>
  text && /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? plainText(text) : null;

export const checkLog: Provider['checkLog'] = (at, logId, maxBytes) =>
  askRepository(at, async (connection, place) => {
    const [, kind, id] = /^(job|run):(\d{1,16})$/.exec(logId) ?? [];
    if (kind === 'job') return jobLog(at, connection, { ...place, job_id: Number(id) }, maxBytes);
    if (kind !== 'run') return null;
    const { data } = await connection.octokit.rest.checks.get({ ...place, check_run_id: Number(id) });
    return lastBytes(plainText(data.output.text ?? data.output.summary), maxBytes);
  }).catch((error: unknown) => {
    if (isWithheld(error) || faultOf(error).fault.code === 'not_found') return null;
    throw error;
  });

/**
 * GitHub redirects to another host with a signed address, which gets no credential. A failure of that host says
 * nothing about GitHub.
 */
async function jobLog(
  { ctx }: AtRepository,
  connection: Connection,
  job: Place & { job_id: number },
  maxBytes: number,
): Promise<string | null> {
  const address = await connection.locate('GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs', job);
  try {
    return plainText(await fetchEnd(address, { maxBytes, allowPrivate: ctx.config.scm.allowPrivate }));
  } catch (err) {
    ctx.log.debug({ err }, 'the log of a check could not be read');
    return null;
  }
}
