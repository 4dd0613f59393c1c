import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const CHART = join(import.meta.dirname, '../../../deploy/chart/headrace');

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

/** The objects of what Helm rendered. Kubernetes reads YAML 1.1. */
export const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text, { version: '1.1', merge: false })
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0]!;
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);

export const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const [found] = manifests.filter((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
