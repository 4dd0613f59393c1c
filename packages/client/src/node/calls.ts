/** The calls of the API that folders need. */
import { buffer } from 'node:stream/consumers';
import { eachItem } from '../client.ts';
import type { Client } from '../client.ts';
import type { Change, FileInput, Manifest, Source, SourceFile } from '../types.ts';

export type { Change, Client, FileInput, Manifest, Source, SourceFile };

export interface Options {
  signal?: AbortSignal;
  idempotencyKey?: string;
}
export type ImportBody =
  | { files: FileInput[]; parentSourceId?: string; message?: string }
  | { baseSourceId: string; changes: Change[]; message?: string };

export const headOf = async (client: Client, appId: string, options: Options): Promise<string | null> =>
  (await client.apps.get(appId, options)).headSourceId;
export const getSource = (client: Client, appId: string, sourceId: string, options: Options) =>
  client.sources.get(appId, sourceId, options);
export const filesOf = (
  client: Client,
  appId: string,
  sourceId: string,
  options: Options,
): AsyncIterable<SourceFile> =>
  eachItem((page) => client.sources.files(appId, sourceId, { ...options, ...page, limit: 200 }));
export const importFiles = (client: Client, appId: string, body: ImportBody, options: Options) =>
  client.sources.import(appId, body as { files: FileInput[] }, options);
export const importArchive = async (
  client: Client,
  appId: string,
  archive: () => ReadableStream<Uint8Array>,
  options: Options & { parentSourceId?: string; message?: string },
): Promise<Source> => (await client.sources.importArchive(appId, await buffer(archive()), options)).source;
export const initializeHead = (client: Client, appId: string, sourceId: string, options: Options) =>
  client.head.initialize(appId, sourceId, options);
export const downloadSource = (client: Client, appId: string, sourceId: string, options: Options) =>
  client.sources.archive(appId, sourceId, options);
export const manifestOf = (client: Client, appId: string, buildId: string, options: Options) =>
  client.builds.manifest(appId, buildId, options);
export const downloadArtifact = (client: Client, appId: string, buildId: string, options: Options) =>
  client.builds.artifact(appId, buildId, options);
