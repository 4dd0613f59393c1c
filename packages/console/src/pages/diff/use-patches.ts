/** Patches of a difference, read for the files that are on the screen. */
import { useCallback, useMemo, useRef, useState } from 'react';
import { faultOf } from '../../api/faults.ts';
import { patchesQuery } from '../../api/queries.ts';
import { queries } from '../../app/queries.ts';
import type { DiffFile } from '../../code/index.ts';
import { NOTHING, merge, without } from './answers.ts';
import type { Answer } from './answers.ts';
import { batchOf } from './batch.ts';

interface Patches {
  /** With the patches that are there. */
  files: readonly DiffFile[];
  problems: ReadonlyMap<string, string>;
  /** To be called with what is on the screen, as often as it renders. */
  need: (files: DiffFile[]) => void;
  retry: (file: DiffFile) => void;
  /** Whether there was an answer, or a failure. */
  hasBegun: boolean;
}

/**
 * One batch at a time; a fast scroll asks for what it ends on, as each answer renders what is missing. Another pair
 * of sources needs another component.
 */
export function usePatches(
  { appId, baseId, sourceId }: { appId: string; baseId: string; sourceId: string },
  files: readonly DiffFile[],
): Patches {
  const [state, setState] = useState(NOTHING);
  const isAsking = useRef(false);
  // Files that did not fit into an answer beside others.
  const alone = useRef(new Set<string>());

  const need = useCallback(
    (shown: DiffFile[]) => {
      const batch = batchOf(shown, alone.current);
      if (isAsking.current || batch.length === 0) return;
      isAsking.current = true;
      const paths = batch.map(({ path }) => path);
      const settle = (answer: Answer) => {
        isAsking.current = false;
        const isCut = ({ truncated }: DiffFile) => truncated === true && batch.length > 1;
        for (const file of answer.files) if (isCut(file)) alone.current.add(file.path);
        setState((last) => merge(last, answer, isCut));
      };
      queries
        .fetchQuery({ ...patchesQuery(appId, baseId, sourceId, paths), retry: false })
        .then(({ files }) => settle({ paths, files, problem: null }))
        .catch((error: unknown) => settle({ paths, files: [], problem: faultOf(error).message }));
    },
    [appId, baseId, sourceId],
  );
  const retry = useCallback(
    (file: DiffFile) => {
      setState((last) => without(last, file.path));
      need([file]);
    },
    [need],
  );
  const merged = useMemo(() => files.map((file) => state.found.get(file.path) ?? file), [files, state.found]);
  return {
    files: merged,
    problems: state.problems,
    need,
    retry,
    hasBegun: state.hasBegun,
  };
}
