import { fencesOf } from './fences.ts';

export type Step =
  | { kind: 'sh'; content: string }
  | { kind: 'patch'; content: string }
  | { kind: 'file'; path: string; content: string };

/** The steps that the scripted agent executes for a text, in order: its `sh`, `patch` and `file PATH` blocks. */
export const scriptOf = (text: string): Step[] =>
  fencesOf(text).flatMap(({ info, content }): Step[] => {
    const path = /^file\s+(.+)$/s.exec(info)?.[1];
    if (info === 'sh' || info === 'patch') return [{ kind: info, content }];
    return path === undefined ? [] : [{ kind: 'file', path, content }];
  });
