/** The credential of requests: a token as it was given, or those of an App's installation, renewed in time. */
import { createAppAuth } from '@octokit/auth-app';
import type { Credential } from '../credentials.ts';

type AppAuth = ReturnType<typeof createAppAuth>;
type RequestFunction = NonNullable<Parameters<typeof createAppAuth>[0]['request']>;

/** Renewed this long before its end: what begins with it may take as long. */
const RENEW_MS = 5 * 60_000;

interface Token {
  value: string;
  renewAt: number;
  permissions: Record<string, string> | null;
}

export class Tokens {
  readonly #given: Token | null;
  readonly #auth: AppAuth | null;
  readonly installationId: number;
  #current: Token | null = null;

  /** `request`: without a credential. */
  constructor(credential: Credential, request: RequestFunction) {
    const { token, app } = credential;
    this.#given = token === undefined ? null : { value: token, renewAt: Infinity, permissions: null };
    this.#auth = app ? createAppAuth({ appId: app.appId, privateKey: app.privateKey, request }) : null;
    this.installationId = Number(app?.installationId);
  }

  get isOfApp(): boolean {
    return this.#auth !== null;
  }

  async get(): Promise<Token> {
    if (this.#given) return this.#given;
    const current = this.#current;
    if (current && Date.now() < current.renewAt) return current;
    return this.#make();
  }

  /** Another token than the one that was refused; null where there is none. */
  async afterRefusal(refused: string): Promise<Token | null> {
    if (this.#given) return null;
    const current = this.#current;
    return current && current.value !== refused ? current : this.#make();
  }

  /** Signs a request as the App itself. */
  async asApp(): Promise<string> {
    return (await this.#auth!({ type: 'app' })).token;
  }

  async #make(): Promise<Token> {
    const made = await this.#auth!({
      type: 'installation',
      installationId: this.installationId,
      refresh: true,
    });
    const expiresAt = Date.parse(made.expiresAt) || 0;
    this.#current = {
      value: made.token,
      // One whose life is shorter than the margin is used until its end.
      renewAt: expiresAt - RENEW_MS > Date.now() ? expiresAt - RENEW_MS : expiresAt,
      permissions: made.permissions,
    };
    return this.#current;
  }
}
