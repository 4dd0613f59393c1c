/**
 * Octokit for one installation: its credential, its pace, and the writes of it one at a time. A refused
 * token of an App is replaced once; what GitHub limits is not asked for until the limit is over.
 */
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import Bottleneck from 'bottleneck';
import type { Credential } from '../credentials.ts';
import { ProviderError } from '../provider.ts';
import { isCloud, siteOf } from './addresses.ts';
import { senseless, statusOf, waitOf } from './faults.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { Tokens } from './tokens.ts';

const PacedOctokit = Octokit.plugin(throttling, retry);
/** What hooks of Octokit get; the types are of a package that is Octokit's own. */
interface RequestOptions {
  method: string;
  url: string;
  headers: Record<string, string | number | undefined>;
  request: Record<string, unknown>;
  query?: string;
}
type Answer = Awaited<ReturnType<Octokit['request']>>;
type SendRequest = (options: RequestOptions) => Promise<Answer>;

/** Writes that wait for their turn; more are refused. */
const MAX_WAITING = 100;
/** A wait that a request takes upon itself; a longer one is its caller's. */
const SHORT_WAIT_SECONDS = 2;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export class Connection {
  readonly octokit: Octokit;
  readonly tokens: Tokens;
  /** Where pages and git are. */
  readonly site: string;
  readonly #writes = new Bottleneck({
    maxConcurrent: 1,
    highWater: MAX_WAITING,
    strategy: Bottleneck.strategy.OVERFLOW,
  });
  /** Until when a resource (`core`, `graphql`) is not asked. */
  readonly #limitedUntil = new Map<string, number>();

  constructor(baseUrl: string, credential: Credential, { allowPrivate, id }: Place) {
    this.site = siteOf(baseUrl);
    const fetch = guardedFetch(new URL(baseUrl).origin, allowPrivate);
    const options = { baseUrl, userAgent: 'Headrace', log: quiet, request: { fetch } };
    this.octokit = new PacedOctokit({
      ...options,
      throttle: {
        id,
        onRateLimit: isShort,
        onSecondaryRateLimit: isShort,
        // An Enterprise Server asks for no pace between writes.
        ...(isCloud(baseUrl) ? {} : UNPACED),
      },
      retry: { retries: 1 },
    });
    // Outermost, since it is the last: each attempt has the token of its time.
    this.octokit.hook.wrap('request', (request, given) => this.#send(request as never, given as never));
    this.tokens = new Tokens(credential, new Octokit(options).request);
  }

  /** Where a redirect leads that is not followed, as to another host. */
  async locate(
    route: 'GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs',
    parameters: object,
  ): Promise<string> {
    const { headers } = await this.octokit.request(route, {
      ...parameters,
      request: { redirect: 'manual' },
    } as never);
    if (typeof headers.location !== 'string') throw senseless('no address of a log');
    return headers.location;
  }

  async #send(request: SendRequest, options: RequestOptions): Promise<Answer> {
    if (!isWrite(options)) return this.#authorized(request, options);
    // Nobody knows what became of a write that failed: its caller looks.
    options.request.retries = 0;
    return this.#writes.schedule(() => this.#authorized(request, options));
  }

  async #authorized(request: SendRequest, options: RequestOptions): Promise<Answer> {
    if (options.request['isApp'] === true) {
      options.headers.authorization = `bearer ${await this.tokens.asApp()}`;
      return this.#limited(request, options);
    }
    const token = await this.tokens.get();
    options.headers.authorization = `token ${token.value}`;
    try {
      return await this.#limited(request, options);
    } catch (error) {
      const another = statusOf(error) === 401 ? await this.tokens.afterRefusal(token.value) : null;
      if (!another) throw error;
      options.headers.authorization = `token ${another.value}`;
      return this.#limited(request, options);
    }
  }

  async #limited(request: SendRequest, options: RequestOptions): Promise<Answer> {
    const resource = isGraphql(options) ? 'graphql' : 'core';
    const waitMs = (this.#limitedUntil.get(resource) ?? 0) - Date.now();
    if (waitMs > 0)
      throw new ProviderError(
        { code: 'unavailable', retryAfterSeconds: Math.ceil(waitMs / 1_000) },
        'GitHub limits the rate: nothing is asked until then',
      );
    try {
      const answer = await request(options);
      const { status, headers } = answer;
      if (String(headers['x-ratelimit-remaining']) === '0' && headers['x-ratelimit-reset'])
        this.#limitedUntil.set(resource, Number(headers['x-ratelimit-reset']) * 1_000);
      if (status < 300 && status !== 204 && typeof answer.data !== 'object') throw senseless('no JSON');
      return answer;
    } catch (error) {
      const wait = waitOf(error);
      if (wait !== null) this.#limitedUntil.set(resource, Date.now() + wait * 1_000);
      throw error;
    }
  }
}

interface Place {
  allowPrivate: boolean;
  /** Names the installation: its requests share a pace. */
  id: string;
}

const UNPACED = {
  write: new Bottleneck.Group({ maxConcurrent: 1 }),
  notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
};

const isShort = (retryAfter: number, _: unknown, __: unknown, retryCount: number): boolean =>
  retryAfter <= SHORT_WAIT_SECONDS && retryCount === 0;

const isGraphql = ({ url }: RequestOptions): boolean => url.endsWith('/graphql');

function isWrite(options: RequestOptions): boolean {
  if (isGraphql(options)) return /^\s*mutation\b/.test(options.query ?? '');
  return options.method !== 'GET' && options.method !== 'HEAD';
}
