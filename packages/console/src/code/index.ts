/** Everything that shows code: what pages import. */
export { CodeView } from './code-view.tsx';
export type { CodeHandle, Lines } from './code-view.tsx';
export { Counts, fileStatus } from './diff-file.tsx';
export type { DiffLook } from './diff-file.tsx';
export type { DiffFile } from './diff-list.ts';
export type { LineRange } from './diff-row.tsx';
export { DiffView } from './diff-view.tsx';
export type { DiffHandle, Selection } from './diff-view.tsx';
export { Plain } from './plain.tsx';
