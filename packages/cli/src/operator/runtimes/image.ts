/** What an archive says of its image, in the format of OCI or of `docker save`. Every digest is checked. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import Type from 'typebox';
import type { Static, TSchema } from 'typebox';
import { compile } from '@headrace/server/http/validate.ts';
import type { Blob, Find } from './archive.ts';

/** The layers, the lowest first, each with the SHA-256 that it has unpacked. */
export interface Image {
  layers: { blob: Blob; sha256: string }[];
  env: Record<string, string>;
  architecture: string | null;
}

const JSON_BYTES = 16 * 1024 ** 2;
const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' });
const Descriptor = Type.Object({
  mediaType: Type.Optional(Type.String()),
  digest: Digest,
  size: Type.Integer({ minimum: 0 }),
  platform: Type.Optional(Type.Object({ os: Type.String(), architecture: Type.String() })),
});
type Descriptor = Static<typeof Descriptor>;
const Index = Type.Object({ manifests: Type.Array(Descriptor) });
const Manifest = Type.Object({ config: Descriptor, layers: Type.Array(Descriptor) });
const DockerManifest = Type.Array(Type.Object({ Config: Type.String(), Layers: Type.Array(Type.String()) }));
const Config = Type.Object({
  architecture: Type.Optional(Type.String()),
  config: Type.Optional(
    Type.Object({ Env: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])) }),
  ),
  rootfs: Type.Object({ diff_ids: Type.Array(Digest) }),
});

/** Node's names of architectures as images have them. */
export const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ia32: '386' };

/** Throws, with words for a person, where the archive is no image or not what its digests say. */
export function imageOf(find: Find): Image {
  const index = find('index.json');
  const docker = find('manifest.json');
  if (index) return ofManifest(find, manifestOf(find, index));
  if (docker) return ofDocker(find, docker);
  throw new Error(
    'the archive holds no image: it has neither index.json (OCI) nor manifest.json (docker save)',
  );
}

/** The manifest of the one image, or of the one for this machine. Indexes may hold indexes. */
function manifestOf(find: Find, blob: Blob): Static<typeof Manifest> {
  const { manifests } = parsed(blob, Index, 'an index');
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  // Attestations have the platform unknown/unknown.
  const known = manifests.filter(({ platform }) => platform?.os !== 'unknown');
  const ours = known.filter(({ platform }) => platform?.architecture === architecture);
  const [chosen, ...more] = known.length === 1 ? known : ours;
  if (!chosen) throw new Error(`the archive holds no image for ${architecture}`);
  if (more.length > 0) throw new Error('the archive holds several images: save one alone');
  const found = described(find, chosen);
  return /index|list/.test(chosen.mediaType ?? '')
    ? manifestOf(find, found)
    : parsed(found, Manifest, 'a manifest');
}

function ofManifest(find: Find, { config, layers }: Static<typeof Manifest>): Image {
  return withConfig(
    described(find, config),
    layers.map((layer) => described(find, layer)),
  );
}

function ofDocker(find: Find, manifest: Blob): Image {
  const [image, ...more] = parsed(manifest, DockerManifest, 'a manifest');
  if (!image) throw new Error('the archive holds no image');
  if (more.length > 0) throw new Error('the archive holds several images: save one alone');
  const config = required(find, image.Config);
  const named = basename(image.Config, '.json');
  if (/^[0-9a-f]{64}$/.test(named) && named !== config.sha256) throw mismatch(image.Config, config);
  return withConfig(
    config,
    image.Layers.map((name) => required(find, name)),
  );
}

function withConfig(blob: Blob, layers: Blob[]): Image {
  const { architecture, config, rootfs } = parsed(blob, Config, 'a configuration');
  if (rootfs.diff_ids.length !== layers.length)
    throw new Error(
      `the image has ${layers.length} layers, but its configuration names ${rootfs.diff_ids.length}`,
    );
  return {
    layers: layers.map((layer, i) => ({ blob: layer, sha256: rootfs.diff_ids[i]!.slice('sha256:'.length) })),
    env: Object.fromEntries(
      (config?.Env ?? []).flatMap((text) => {
        const at = text.indexOf('=');
        return at > 0 ? [[text.slice(0, at), text.slice(at + 1)]] : [];
      }),
    ),
    architecture: architecture ?? null,
  };
}

function described(find: Find, { digest, size }: Descriptor): Blob {
  const hex = digest.slice('sha256:'.length);
  const blob = required(find, `blobs/sha256/${hex}`);
  if (blob.sha256 !== hex || blob.byteSize !== size) throw mismatch(digest, blob);
  return blob;
}

function required(find: Find, name: string): Blob {
  const blob = find(name);
  if (!blob) throw new Error(`the archive lacks ${name}`);
  return blob;
}

const mismatch = (name: string, { sha256, byteSize }: Blob): Error =>
  new Error(`${name} does not match its digest: it has ${byteSize} bytes with the SHA-256 ${sha256}`);

function parsed<S extends TSchema>({ file, byteSize }: Blob, schema: S, what: string): Static<S> {
  const wrong = new Error(`the archive holds ${what} that cannot be read`);
  if (byteSize > JSON_BYTES) throw wrong;
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Static<S>;
    if (compile(schema, 'body')(value).length === 0) return value;
  } catch {
    /* the same */
  }
  throw wrong;
}
