/** Everything that shows code: what pages import. */
export { AnsiText, ansiLines, plainOutput } from './ansi.ts';
export type { AnsiLine } from './ansi.ts';
export { AnsiView } from './ansi-view.tsx';
export { CodeView } from './code-view.tsx';
export type { CodeHandle, Lines } from './code-view.tsx';
export { Counts, fileStatus } from './diff-file.tsx';
export type { DiffLook } from './diff-file.tsx';
export type { DiffFile } from './diff-list.ts';
export type { LineRange } from './diff-row.tsx';
export { DiffView } from './diff-view.tsx';
export type { DiffHandle, Selection } from './diff-view.tsx';
export { FileTree } from './file-tree.tsx';
export { Plain } from './plain.tsx';
export { treeOrder } from './tree.ts';
