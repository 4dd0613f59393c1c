/**
 * What is decided of a request before its route: who calls, whether the rate limit lets it through, and the
 * headers that every answer has.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { isDatabaseAway } from '../db/faults.ts';
import type { Limiter, RateState } from '../limits/limiter.ts';
import { networkOf } from '../limits/networks.ts';
import { databaseFault } from './database-faults.ts';
import { STATIC_PATHS } from './docs.ts';
import { ApiError, invalid } from './errors.ts';
import { hasTwoHosts } from './hosts.ts';
import type { Arrival } from './intake.ts';
import type { Principal } from './principal.ts';
import { rateHeaders, retryHeaders } from './rate-limit.ts';

/**
 * Who calls: `bucket` is what the rate limit counts. `refusal` is thrown once the route is known. `url` says
 * which credentials count there.
 */
export type Authenticate = (
  headers: IncomingMessage['headers'],
  address: string,
  url: string,
) => Promise<{ principal?: Principal; refusal?: ApiError; bucket: string }>;

export type AdmittedRequest = FastifyRequest & {
  principal?: Principal;
  refusal?: ApiError;
  rate?: RateState;
  /** Of a request that may have a body, once it may be read. */
  arrival?: Arrival;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Static files of a route whose URL has many spellings: the rate limit does not count them. */
    isUncounted?: boolean;
  }
}

/** The bucket of callers that are not known. */
export const anonymous = (address: string) => `address ${networkOf(address)}`;

/** What other services send: it counts for its address, whatever credential comes with it. */
const OF_SERVICES = /^\/api\/(source-control\/scm\/webhooks|hooks\/automations)\//;
const UNCOUNTED = new Set(['/health', '/health/ready', ...STATIC_PATHS]);

export class Admission {
  readonly #log: Context['log'];
  readonly #authenticate: Authenticate;
  readonly #limiter: Limiter;
  /**
   * Nobody keeps an answer, and no browser guesses what it is: what one caller may see, a cache would show to
   * the next. Public documents say otherwise themselves.
   */
  readonly #fixed: Record<string, string>;

  constructor(
    { limits, config, log, version }: Pick<Context, 'limits' | 'config' | 'log' | 'version'>,
    authenticate: Authenticate,
  ) {
    this.#log = log;
    this.#authenticate = authenticate;
    this.#limiter = limits.limiter('ingress', config.rateLimit, config.rateWindowSeconds);
    this.#fixed = {
      'x-headrace-version': version,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Also of an answer that nobody asked to be compressed.
      vary: 'accept-encoding',
    };
  }

  /** The headers of the request's answer, whatever it is. */
  headersOf(request: AdmittedRequest): Record<string, string> {
    const rate = request.rate ?? this.#limiter.peek(anonymous(request.ip));
    return { ...this.#fixed, 'x-request-id': request.id, ...rateHeaders(rate) };
  }

  /** As `headersOf`, for a request that the parser refused. */
  headersOfUnparsed(id: string): Record<string, string> {
    return { ...this.#fixed, 'x-request-id': id, ...rateHeaders(this.#limiter.peek('parse')) };
  }

  /** Counts the request for its caller, and sets the headers that every answer has. Throws 400, 429 or 503. */
  async admit(request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    const isCounted = !request.routeOptions.config.isUncounted && !UNCOUNTED.has(request.url.split('?')[0]!);
    request.rate = isCounted ? await this.#count(request) : this.#limiter.peek(anonymous(request.ip));
    void reply.headers(this.headersOf(request));
    const { verdict, resetSeconds } = request.rate;
    if (verdict === 'refused')
      throw new ApiError('rate_limited', `Too many requests. Retry in ${resetSeconds} s.`, {
        headers: retryHeaders(resetSeconds),
      });
    if (verdict === 'away')
      throw (
        databaseFault(request.rate.cause) ??
        new ApiError('unavailable', 'The rate limiter is away. Retry in a moment.', {
          headers: retryHeaders(resetSeconds),
        })
      );
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw invalid({ path: '/headers/host', message: 'is required' });
    if (hasTwoHosts(request.raw)) throw invalid({ path: '/headers/host', message: 'is given twice' });
  }

  /** Neither the caller nor its window can be looked up while the database is away. */
  async #count(request: AdmittedRequest): Promise<RateState> {
    try {
      // By its route, if it has one: a URL has many spellings.
      if (OF_SERVICES.test(request.routeOptions.url ?? request.url))
        return await this.#limiter.take(anonymous(request.ip));
      const known = await this.#authenticate(request.headers, request.ip, request.url);
      Object.assign(request, known);
      return await this.#limiter.take(known.bucket);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      this.#log.warn({ err: error, requestId: request.id }, 'a caller could not be looked up');
      return this.#limiter.away();
    }
  }
}
