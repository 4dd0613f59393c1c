/** Where the runner's folder lies: its workspaces need room, and a file system that overlays may have as upper layer. */
import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

export interface Place {
  /** The runner's folder is made in it. */
  parent: string;
  /** For a person. */
  warnings: string[];
}

const MEMORY = '/dev/shm';
const ENOUGH_MEMORY = 1024 ** 3;
const REMEDY =
  'set HEADRACE_RUNNER_DIR to a folder of a volume of its own (in a Pod: an emptyDir, with medium: Memory for speed)';

/** All of them, for what killed runners left. */
export const parentsOf = (named: string | null): string[] => [
  ...new Set([MEMORY, tmpdir(), ...(named === null ? [] : [named])]),
];

/**
 * The named folder. Without one prefers memory: creating many files is slow on many root file systems (17-22 s for 10,000
 * where 0.2 s is usual).
 */
export function choosePlace(named: string | null, memory = MEMORY): Place {
  if (named !== null) {
    mkdirSync(named, { recursive: true, mode: 0o711 });
    return { parent: named, warnings: roomWarnings(named) };
  }
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize >= ENOUGH_MEMORY) return { parent: memory, warnings: [] };
    return {
      parent: tmpdir(),
      warnings: [
        `${memory} has ${mebi(bavail * bsize)} MiB free, less than 1 GiB: workspaces lie in ${tmpdir()}, which may be slow; ${REMEDY}`,
      ],
    };
  } catch {
    return { parent: tmpdir(), warnings: [] };
  }
}

function roomWarnings(folder: string): string[] {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= ENOUGH_MEMORY
    ? []
    : [`${folder} (HEADRACE_RUNNER_DIR) has ${mebi(bavail * bsize)} MiB free, less than 1 GiB: give it more`];
}

const mebi = (bytes: number) => Math.floor(bytes / 1024 ** 2);

/** What is wrong with the place, as far as it is known. `cannotMount`: it was tried in vain by who could mount elsewhere. */
export function placeWarnings({ parent, warnings }: Place, cannotMount: boolean): string[] {
  if (!cannotMount) return warnings;
  return [
    ...warnings,
    `${parent} takes no overlay mounts: the files of each workspace, build and preview are unpacked and hashed in full; ${REMEDY}`,
  ];
}
