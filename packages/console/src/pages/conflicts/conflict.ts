import type { ApplyPreview } from '@headrace/client';

export type Conflict = ApplyPreview['conflicts'][number];
export type Side = 'head' | 'draft';
export interface Resolution {
  path: string;
  take: Side;
}
