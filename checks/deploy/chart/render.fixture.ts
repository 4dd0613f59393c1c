/** What the chart makes of values, as objects. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { CHART, manifestsOf } from './manifests.ts';
import type { Manifest } from './manifests.ts';
import { helm } from './tools.ts';
import type { Ended } from './tools.ts';

const VALUES = join(import.meta.dirname, 'values');
export const VALUE_FILES = readdirSync(VALUES).map((file) => file.replace('.yaml', ''));

/** `helm <command>` on the chart with a file of values and with further ones, as `api.replicas=3`. */
export function helmOn(command: 'lint' | 'template', values: string, ...sets: string[]): Ended {
  const home = mkdtempSync(join(tmpdir(), 'headrace-helm-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const what = command === 'template' ? ['template', 'prod', CHART] : ['lint', '--strict', CHART];
  const more = sets.flatMap((set) => ['--set-json', set]);
  return helm([...what, '--namespace', 'apps', '--values', join(VALUES, `${values}.yaml`), ...more], home);
}

const rendered = new Map<string, string>();

/** The objects of a release `prod` in the namespace `apps`. */
export function render(values: string): Manifest[] {
  let text = rendered.get(values);
  if (text === undefined) {
    const { code, stdout, stderr } = helmOn('template', values);
    if (code !== 0) throw new Error(stderr);
    rendered.set(values, (text = stdout));
  }
  return manifestsOf(text);
}

/** Everything that makes Pods. */
export const podsOf = (manifests: Manifest[]): Manifest[] =>
  manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
