/** Whether a cluster would know the objects: by validators at run time, and by their types for unknown fields. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest } from './manifests.ts';
import { MODULES } from './tools.ts';

const TSC = join(import.meta.dirname, '../../../node_modules/.bin/tsc');
/** Kinds that clusters have from elsewhere. */
const PACKAGES: Record<string, string> = {
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

function moduleOf({ apiVersion, kind }: Manifest): string {
  const group = apiVersion.split('/')[0]!;
  return join(MODULES, PACKAGES[group] ?? 'kubernetes-models', apiVersion, `${kind}.js`);
}

/** What is wrong with the values of fields; an unknown version or kind throws. */
export async function faultsOf(manifests: Manifest[]): Promise<string[]> {
  const faults: string[] = [];
  for (const manifest of manifests) {
    const known = (await import(moduleOf(manifest))) as Record<
      string,
      new (data: Manifest) => { validate(): void }
    >;
    try {
      new known[manifest.kind]!(manifest).validate();
    } catch (error) {
      faults.push(`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`);
    }
  }
  return faults;
}

/** Fields that Kubernetes does not know, in the compiler's words. The validators let them pass, as old clusters do. */
export function unknownFieldsOf(manifests: Manifest[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-chart-'));
  try {
    const lines = manifests.map((manifest, i) => {
      const { apiVersion, kind, ...rest } = manifest;
      return `import type { I${kind} as K${i} } from ${JSON.stringify(moduleOf(manifest))};
export const m${i}: K${i} = ${JSON.stringify({ apiVersion, kind, ...rest }, null, 1)};`;
    });
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          noEmit: true,
          strict: true,
          skipLibCheck: true,
          module: 'nodenext',
          target: 'es2024',
          types: [],
        },
        files: ['manifests.ts'],
      }),
    );
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    execFileSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8', timeout: 60_000 });
    return '';
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout === undefined) throw error;
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
