/** Kubernetes' API by its own addresses: what the servers store, without a client's opinion of it. */
import { createWriteStream, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Manifest } from '../chart/manifests.ts';

const LIMIT_MS = 30_000;

export interface Stored extends Manifest {
  metadata: Manifest['metadata'] & {
    namespace?: string;
    uid: string;
    creationTimestamp: string;
    deletionTimestamp?: string;
    ownerReferences?: { kind: string; name: string }[];
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- checks reach into it by name; a wrong name fails them
  status?: any;
}

interface Resource {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

export type Api = ReturnType<typeof connect>;

export function connect(base: string, token: string, authority: string) {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(authority) });

  function send(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const bytes = body && Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const asked = request(
        `${base}${path}`,
        {
          agent,
          method,
          timeout: LIMIT_MS,
          headers: {
            authorization: `Bearer ${token}`,
            ...(bytes && {
              // Node leaves it out of a DELETE.
              'content-length': bytes.length,
              'content-type':
                method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
            }),
          },
        },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
          );
          answer.on('error', reject);
        },
      );
      asked.on('timeout', () => asked.destroy(new Error(`${method} ${path}: no answer in ${LIMIT_MS} ms`)));
      asked.on('error', reject);
      asked.end(bytes);
    });
  }

  /** Writes what comes into a file, for as long as it comes. False if nothing can come yet. */
  function follow(path: string, file: string): Promise<boolean> {
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}` };
      const asked = request(`${base}${path}`, { agent, headers }, (answer) => {
        resolve(answer.statusCode === 200);
        if (answer.statusCode !== 200) return answer.resume();
        return pipeline(answer, createWriteStream(file)).catch(() => {});
      });
      asked.on('error', () => resolve(false));
      asked.end();
    });
  }

  /** Throws on any status but 2xx. */
  async function call<T = Stored>(method: string, path: string, body?: object): Promise<T> {
    const { status, text } = await send(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as T;
  }

  const resources = new Map<string, Promise<Resource[]>>();
  /** What a group has, as `apps/v1`. It never changes, apart from what checks define before they ask. */
  function resourcesOf(group: string): Promise<Resource[]> {
    let found = resources.get(group);
    if (found === undefined) {
      found = call<{ resources: Resource[] }>('GET', rootOf(group)).then((list) => list.resources);
      resources.set(group, found);
    }
    return found;
  }

  async function pathOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>, namespace: string) {
    const found = (await resourcesOf(apiVersion)).find((one) => one.kind === kind && !one.name.includes('/'));
    if (found === undefined) throw new Error(`the cluster has no ${apiVersion} ${kind}`);
    return `${rootOf(apiVersion)}${found.namespaced ? `/namespaces/${namespace}` : ''}/${found.name}`;
  }

  const list = async (path: string): Promise<Stored[]> =>
    (await call<{ items: Stored[] }>('GET', path)).items;

  return {
    send,
    follow,
    call,
    list,
    pods: (namespace: string, role?: string) =>
      list(
        `/api/v1/namespaces/${namespace}/pods${role ? `?labelSelector=app.kubernetes.io/component=${role}` : ''}`,
      ),
    async create(manifest: object, namespace = 'default'): Promise<Stored> {
      return call('POST', await pathOf(manifest as Manifest, namespace), manifest);
    },
    /** What is stored under this kind and name; undefined if nothing is. */
    async stored(manifest: Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'>, namespace: string) {
      const path = `${await pathOf(manifest, namespace)}/${manifest.metadata.name}`;
      const { status, text } = await send('GET', path);
      if (status === 404) return undefined;
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
      return JSON.parse(text) as Stored;
    },
    /** `kind/name` of everything that there is in a namespace, of each kind that the cluster knows. */
    async everythingIn(namespace: string): Promise<string[]> {
      const groups = await call<{ groups: { preferredVersion: { groupVersion: string } }[] }>('GET', '/apis');
      const names = new Set<string>();
      for (const group of ['v1', ...groups.groups.map((one) => one.preferredVersion.groupVersion)])
        for (const { kind, name, namespaced, verbs } of await resourcesOf(group)) {
          if (!namespaced || !verbs.includes('list') || kind === 'Event') continue;
          for (const { metadata } of await list(`${rootOf(group)}/namespaces/${namespace}/${name}`))
            names.add(`${kind}/${metadata.name}`);
        }
      return [...names].sort();
    },
  };
}

const rootOf = (group: string) => (group === 'v1' ? '/api/v1' : `/apis/${group}`);
