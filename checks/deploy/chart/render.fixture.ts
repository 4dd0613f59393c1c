/** What the chart makes of values, as objects. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { helm } from './tools.ts';
import type { Ended } from './tools.ts';

export const CHART = join(import.meta.dirname, '../../../deploy/chart/headrace');
const VALUES = join(import.meta.dirname, 'values');
export const VALUE_FILES = readdirSync(VALUES).map((file) => file.replace('.yaml', ''));

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  // Tests reach into specs by name; a wrong name fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  spec: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  [key: string]: any;
}

/** `helm <command>` on the chart with a file of values and with further ones, as `api.replicas=3`. */
export function helmOn(command: 'lint' | 'template', values: string, ...sets: string[]): Ended {
  const home = mkdtempSync(join(tmpdir(), 'headrace-helm-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const what = command === 'template' ? ['template', 'prod', CHART] : ['lint', '--strict', CHART];
  const more = sets.flatMap((set) => ['--set-json', set]);
  return helm([...what, '--namespace', 'apps', '--values', join(VALUES, `${values}.yaml`), ...more], home);
}

const rendered = new Map<string, string>();

/** The objects of a release `prod` in the namespace `apps`. Kubernetes reads YAML 1.1. */
export function render(values: string): Manifest[] {
  let text = rendered.get(values);
  if (text === undefined) {
    const { code, stdout, stderr } = helmOn('template', values);
    if (code !== 0) throw new Error(stderr);
    rendered.set(values, (text = stdout));
  }
  return parseAllDocuments(text, { version: '1.1', merge: false })
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0]!;
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

export const named = (manifests: Manifest[], kind: string, name: string): Manifest => {
  const [found] = manifests.filter((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};

/** Everything that makes Pods. */
export const podsOf = (manifests: Manifest[]): Manifest[] =>
  manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
