/**
 * GitHub as far as Headrace asks it, on a port of this machine: REST, GraphQL, git over HTTP, webhooks, rate
 * limits, conditional reads, redirects of renamed repositories, tokens that end. Written from GitHub's own
 * documentation; each request is held against GitHub's OpenAPI description, and `close` fails where one was
 * not of it.
 */
import { spawn } from 'node:child_process';
import {
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  verify,
} from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBareRepository } from '../../git/bare-repository.ts';
import { recognize } from './stand-in-description.fixture.ts';
import { answerGraphql } from './stand-in-graphql.fixture.ts';
import { sendLog } from './stand-in-logs.fixture.ts';
import { GIT, StandInRepository } from './stand-in-repository.fixture.ts';
import { permissionFor, refusal, REST } from './stand-in-rest.fixture.ts';
import type { Actor, Answer } from './stand-in-rest.fixture.ts';

export type { StandInPull, StandInRepository } from './stand-in-repository.fixture.ts';

/** What goes wrong with a request: before it, or after it was done. */
export type Trouble = '502' | 'cut' | '502 after' | 'cut after';

interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  status: number;
  /** Requests that were under way when it came. */
  rivals: string[];
}

interface Token {
  expiresAt: number;
  permissions: Record<string, string>;
  kind: 'user' | 'installation';
}

export const ALL_PERMISSIONS = {
  metadata: 'read',
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'read',
  statuses: 'read',
  actions: 'read',
};
export const APP = { appId: '4711', installationId: '815' };

let keys: { publicKey: string; privateKey: string } | null = null;
/** One pair for all: it takes a tenth of a second to make. */
const keyPair = () =>
  (keys ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  }));

export async function startGithubStandIn(): Promise<GithubStandIn> {
  const standIn = new GithubStandIn(await mkdtemp(join(tmpdir(), 'headrace-github-')));
  await standIn.listen();
  return standIn;
}

export class GithubStandIn {
  readonly folder: string;
  readonly app = { ...APP, privateKey: keyPair().privateKey };
  /** A token of the person `ada`. */
  token = `ghp_${randomUUID().replaceAll('-', '')}`;
  readonly repositories: StandInRepository[] = [];
  readonly seen: SeenRequest[] = [];
  /** Requests that GitHub's description has something against. */
  readonly faults: string[] = [];
  readonly tokens = new Map<string, Token>();
  permissions: Record<string, string> = { ...ALL_PERMISSIONS };
  tokenSeconds = 3_600;
  /** Whether the App is installed. */
  isInstalled = true;
  /** Decides what goes wrong with a request. */
  trouble: ((request: { method: string; path: string }) => Trouble | undefined) | null = null;
  /** Answers in place of the stand-in, where it gives one. */
  instead: ((request: { method: string; path: string }) => Answer | { raw: string } | undefined) | null =
    null;
  /** Until when the rate is limited, in ms. */
  limitedUntil = 0;
  readonly #server: Server;
  #underWay = new Set<string>();
  #lastId = 1_000;

  constructor(folder: string) {
    this.folder = folder;
    this.tokens.set(this.token, { kind: 'user', expiresAt: Infinity, permissions: {} });
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.faults.push(`the stand-in failed: ${String(error)}`);
        response.destroy();
      });
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/api/v3`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async makeRepository({
    name = `site-${this.#lastId}`,
    files = { 'README.md': '# Site\n' },
  }: { name?: string; files?: Record<string, string> | null } = {}): Promise<StandInRepository> {
    const id = ++this.#lastId;
    const dir = join(this.folder, `${id}.git`);
    await createBareRepository(dir, {
      defaultBranch: 'main',
      config:
        '[http]\n\treceivepack = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n',
    });
    const repository = new StandInRepository(id, 'acme', name, dir);
    if (files) await repository.commit('main', files, { message: 'First' });
    this.repositories.push(repository);
    return repository;
  }

  rename(repository: StandInRepository, name: string): void {
    repository.formerNames.push(repository.fullName);
    repository.name = name;
  }

  remove(repository: StandInRepository): void {
    this.repositories.splice(this.repositories.indexOf(repository), 1);
  }

  /** Tokens that were given out are refused from now on. */
  revoke(): void {
    this.tokens.clear();
  }

  /** Sends a signed delivery, as GitHub does. */
  async deliver(
    url: string,
    {
      secret,
      event,
      payload,
      id = randomUUID(),
    }: { secret: string; event: string; payload: object; id?: string },
  ): Promise<{ status: number; body: unknown }> {
    const body = JSON.stringify(payload);
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const answer = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/test',
        'x-github-event': event,
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${signature}`,
      },
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** Throws where a request was not what GitHub describes. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
    if (this.faults.length) throw new Error(`GitHub would not know this:\n${this.faults.join('\n')}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.origin);
    const method = request.method!;
    const name = `${method} ${url.pathname}`;
    const seen: SeenRequest = {
      method,
      path: url.pathname + url.search,
      headers: request.headers,
      body: '',
      status: 0,
      rivals: [...this.#underWay],
    };
    this.seen.push(seen);
    const trouble = this.trouble?.({ method, path: url.pathname });
    if (trouble === 'cut') return void response.destroy();
    if (trouble === '502') return send(response, { status: 502, body: 'Bad gateway' });
    if (url.pathname.startsWith('/logs/')) return await this.#log(url, seen, response);
    this.#underWay.add(name);
    try {
      if (!url.pathname.startsWith('/api/')) return await this.#git(url, request, response, trouble);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      seen.body = Buffer.concat(chunks).toString('utf8');
      const answer = this.instead?.({ method, path: url.pathname }) ?? (await this.#answer(url, seen));
      if (trouble === 'cut after') return void response.destroy();
      if (trouble === '502 after') return send(response, { status: 502, body: 'Bad gateway' });
      if ('raw' in answer) return void response.setHeader('content-type', 'application/json').end(answer.raw);
      seen.status = answer.status;
      return send(response, this.#conditional(answer, seen));
    } finally {
      this.#underWay.delete(name);
    }
  }

  /** Logs are at another host, and their address is all that it takes. */
  async #log(url: URL, seen: SeenRequest, response: ServerResponse): Promise<void> {
    if (seen.headers.authorization) this.faults.push('a credential went to another host');
    const [, , repositoryId, job] = url.pathname.split('/');
    const log = this.repositories.find(({ id }) => String(id) === repositoryId)?.logs.get(Number(job));
    await sendLog(log, seen.headers.range, response);
  }

  async #answer(url: URL, seen: SeenRequest): Promise<Answer> {
    const body = seen.body === '' ? undefined : (JSON.parse(seen.body) as Record<string, unknown>);
    const path = new URL(url.href.replace('/api/v3', ''));
    const actor = this.#actorOf(seen.headers.authorization ?? '', path.pathname);
    if ('status' in actor) return actor;
    if (Date.now() < this.limitedUntil) {
      const reset = String(Math.ceil(this.limitedUntil / 1_000));
      return {
        ...refusal(403, 'API rate limit exceeded for installation ID 815.'),
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      };
    }
    if (url.pathname === '/api/graphql')
      return answerGraphql(body as never, { actor, repositories: this.repositories });
    const moved = this.#redirect(path, url);
    if (moved) return moved;
    const known = recognize(seen.method, this.#byName(path), body);
    if (!known || !seen.headers['user-agent']) {
      this.faults.push(`${seen.method} ${path.pathname}`);
      return refusal(404, 'Not Found');
    }
    if (known.faults.length) {
      this.faults.push(`${known.operation}: ${known.faults.join('; ')}`);
      return refusal(422, known.faults.join('; '));
    }
    if (known.operation.includes('access_tokens')) return this.#makeToken(known.params);
    if (actor.kind === 'installation' && !known.isForApps)
      return refusal(403, 'Resource not accessible by integration');
    const needed = permissionFor(known.operation);
    if (actor.kind === 'installation' && needed && !allows(actor.permissions[needed.name], needed.level))
      return {
        ...refusal(403, 'Resource not accessible by integration'),
        headers: { 'x-accepted-github-permissions': `${needed.name}=${needed.level}` },
      };
    const repository = this.repositories.find(
      (one) => one.fullName === `${known.params['owner']}/${known.params['repo']}`,
    );
    if (known.params['repo'] !== undefined && !repository) return refusal(404, 'Not Found');
    return REST[known.operation]!({
      actor,
      params: known.params,
      query: known.query,
      body: body ?? {},
      origin: this.origin,
      repository: repository!,
      repositories: this.repositories,
    });
  }

  /** A former name leads to an address with the id, as GitHub's does. */
  #redirect(path: URL, url: URL): Answer | null {
    const [, owner, repo] = /^\/repos\/([^/]+)\/([^/]+)/.exec(path.pathname) ?? [];
    const name = `${owner}/${repo}`;
    if (this.repositories.some(({ fullName }) => fullName === name)) return null;
    const found = this.repositories.find(({ formerNames }) => formerNames.includes(name));
    if (!found) return null;
    const location = url.href.replace(`/repos/${name}`, `/repositories/${found.id}`);
    return { status: 301, body: { message: 'Moved Permanently', url: location }, headers: { location } };
  }

  #byName(path: URL): URL {
    const [prefix, id] = /^\/repositories\/(\d+)/.exec(path.pathname) ?? [];
    const found = this.repositories.find((one) => String(one.id) === id);
    return found ? new URL(path.href.replace(prefix!, `/repos/${found.fullName}`)) : path;
  }

  #actorOf(authorization: string, path: string): Actor | Answer {
    const [, value = ''] = /^(?:token|bearer) (.+)$/i.exec(authorization) ?? [];
    if (path === '/app' || path.startsWith('/app/'))
      return this.#isSigned(value)
        ? { kind: 'app', login: 'headrace-test[bot]', id: 4711, permissions: {} }
        : refusal(401, 'A JSON web token could not be decoded');
    const token = this.tokens.get(value);
    if (!token || token.expiresAt <= Date.now()) return refusal(401, 'Bad credentials');
    return token.kind === 'user'
      ? { kind: 'user', login: 'ada', id: 7, permissions: {} }
      : { kind: 'installation', login: 'headrace-test[bot]', id: 4711, permissions: token.permissions };
  }

  #isSigned(jwt: string): boolean {
    const [head, claims, signature] = jwt.split('.');
    if (!head || !claims || !signature) return false;
    const key = createPublicKey(keyPair().publicKey);
    const isRight = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      key,
      Buffer.from(signature, 'base64url'),
    );
    const { iss, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
      string,
      number
    >;
    const now = Date.now() / 1_000;
    return isRight && String(iss) === this.app.appId && iat! <= now && exp! > now && exp! - now <= 600;
  }

  #makeToken({ installation_id: id }: Record<string, string>): Answer {
    if (id !== this.app.installationId || !this.isInstalled) return refusal(404, 'Not Found');
    const token = `ghs_${randomUUID().replaceAll('-', '')}`;
    const expiresAt = Date.now() + this.tokenSeconds * 1_000;
    this.tokens.set(token, { kind: 'installation', expiresAt, permissions: { ...this.permissions } });
    const body = {
      token,
      expires_at: new Date(expiresAt).toISOString(),
      permissions: this.permissions,
      repository_selection: 'all',
    };
    return { status: 201, body };
  }

  #conditional(answer: Answer, { method, headers }: SeenRequest): Answer {
    const rate = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4999', ...answer.headers };
    if (method !== 'GET' || answer.status !== 200) return { ...answer, headers: rate };
    const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex')}"`;
    return headers['if-none-match'] === etag
      ? { status: 304, headers: { ...rate, etag } }
      : { ...answer, headers: { ...rate, etag } };
  }

  async #git(
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
    trouble: Trouble | undefined,
  ): Promise<void> {
    const [, name, path] = /^\/([^/]+\/[^/]+)\.git(\/.*)$/.exec(url.pathname) ?? [];
    const basic = Buffer.from(
      (request.headers.authorization ?? '').replace(/^basic /i, ''),
      'base64',
    ).toString();
    const token = this.tokens.get(basic.replace(/^x-access-token:/, ''));
    if (!basic.startsWith('x-access-token:') || !token || token.expiresAt <= Date.now())
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end();
    const renamed = this.repositories.find(({ formerNames }) => formerNames.includes(name ?? ''));
    const found = this.repositories.find(({ fullName }) => fullName === name);
    if (!found && renamed)
      return void response.writeHead(301, { location: url.href.replace(name!, renamed.fullName) }).end();
    if (!found) return void response.writeHead(404).end();
    const isPush = path === '/git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
    if (isPush && !found.canPush) return void response.writeHead(403).end();
    await backend(found, { path: path!, url, request, response, loses: trouble?.endsWith('after') === true });
  }
}

const allows = (has: string | undefined, needs: 'read' | 'write') => has === 'write' || has === needs;

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    ...(text === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    ...headers,
  });
  response.end(text);
}

interface GitExchange {
  path: string;
  url: URL;
  request: IncomingMessage;
  response: ServerResponse;
  /** Does it, and cuts the connection before the answer. */
  loses: boolean;
}

/** git's own http-backend, as CGI. */
async function backend(repository: StandInRepository, exchange: GitExchange): Promise<void> {
  const { path, url, request, response, loses } = exchange;
  const child = spawn('git', ['http-backend'], {
    env: {
      ...GIT,
      GIT_PROJECT_ROOT: repository.dir,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: url.searchParams.toString(),
      REQUEST_METHOD: request.method!,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: 'x-access-token',
      ...(request.headers['content-length'] ? { CONTENT_LENGTH: request.headers['content-length'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  if (loses) return void response.destroy();
  const output = Buffer.concat(chunks);
  const end = output.indexOf('\r\n\r\n');
  for (const line of output.subarray(0, end).toString().split('\r\n')) {
    const [name, value] = line.split(/: (.*)/) as [string, string];
    if (name.toLowerCase() === 'status') response.statusCode = Number(value.split(' ')[0]);
    else response.setHeader(name, value);
  }
  response.end(output.subarray(end + 4));
}
