/**
 * The findings of a verification. All are counted; as many are listed as an operator can read, lost bytes
 * first.
 */

/** docs/guides/operations.md says what each means and what to do. */
export type DamageKind =
  | 'object_missing'
  | 'object_size'
  | 'object_unreadable'
  | 'object_unregistered'
  | 'pack_damaged'
  | 'pack_index'
  | 'content_damaged'
  | 'content_missing'
  | 'content_length'
  | 'manifest_damaged'
  | 'source_differs'
  | 'reference_missing'
  | 'artifact_damaged'
  | 'artifact_manifest';
type WarningKind = 'object_orphaned' | 'object_unused';

/** A file of a source. */
export interface Use {
  sourceId: string;
  path: string;
}

export interface Finding {
  kind: DamageKind | WarningKind;
  message: string;
  projectId: string | null;
  objectKey?: string;
  packId?: string;
  buildId?: string;
  applyId?: string;
  sourceId?: string;
  path?: string;
  /** Of the content. */
  sha256?: string;
  byteSize?: number;
  /** Of a content: the newest files that are lost with it. */
  neededBy?: Use[];
}

export const MAX_LISTED = 1_000;

export class Findings {
  /** Of damage. */
  readonly counts: Partial<Record<Finding['kind'], number>> = {};
  readonly warnings: Finding[] = [];
  damageCount = 0;
  warningCount = 0;
  warningBytes = 0;
  readonly #damage: Finding[] = [];
  // One lost pack costs thousands of contents: they take no other finding's place.
  readonly #contents: Finding[] = [];

  add(finding: Finding): void {
    this.count(finding.kind);
    const list = finding.sha256 === undefined ? this.#damage : this.#contents;
    if (list.length < MAX_LISTED) list.push(finding);
  }

  warn(finding: Finding): void {
    this.warningCount++;
    this.warningBytes += finding.byteSize ?? 0;
    if (this.warnings.length < MAX_LISTED) this.warnings.push(finding);
  }

  /** Counts a finding that is not listed. */
  count(kind: Finding['kind']): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.damageCount++;
  }

  /** How many contents may still be listed. */
  get room(): number {
    return MAX_LISTED - this.#contents.length;
  }

  get listed(): Finding[] {
    return [...this.#damage, ...this.#contents].slice(0, MAX_LISTED);
  }
}
