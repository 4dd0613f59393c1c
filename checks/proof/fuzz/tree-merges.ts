/** Merges of trees: each kind draws both sides to the same places, and to the changes that it is about. */
import type { Random } from '../../harness/random.ts';
import { anyLength, chance, text, times } from './texts.ts';
import { changeTree, meetingOf, startTree } from './tree-edits.ts';
import type { Change } from './tree-edits.ts';
import { fileOf } from './triple.ts';
import type { File, Files, Triple } from './triple.ts';

type Sides = Omit<Triple, 'generator'>;

interface Recipe {
  files: (random: Random) => number;
  changes: readonly Change[];
  most?: number;
}

const few = (random: Random): number => 2 + random.below(5);
const some = (random: Random): number => 3 + random.below(10);

const RECIPES: Record<string, Recipe> = {
  'any changes': {
    files: some,
    changes: [
      'edit',
      'edit',
      'edit',
      'remove',
      'add',
      'addToFolder',
      'mode',
      'move',
      'moveAcross',
      'renameInPlace',
      'moveFolder',
      'movePartOfFolder',
      'fileToFolder',
    ],
    most: 5,
  },
  renames: {
    files: few,
    changes: ['move', 'moveAcross', 'renameInPlace', 'edit', 'edit', 'move', 'remove', 'add'],
    most: 3,
  },
  'renames on both sides': {
    files: few,
    changes: ['move', 'moveAcross', 'renameInPlace', 'exchange', 'move', 'moveIntoFolder'],
    most: 4,
  },
  'renames and deletions': {
    files: few,
    changes: ['move', 'move', 'moveAcross', 'remove', 'removeFolder', 'edit'],
    most: 3,
  },
  'folders that move': {
    files: some,
    changes: ['moveFolder', 'moveFolder', 'addToFolder', 'addToFolder', 'edit', 'moveIntoFolder'],
    most: 3,
  },
  'folders that move in part': {
    files: some,
    changes: [
      'movePartOfFolder',
      'splitFolder',
      'moveFolder',
      'addToFolder',
      'addToFolder',
      'moveIntoFolder',
      'edit',
      'remove',
    ],
    most: 3,
  },
  'folders that move into each other': {
    files: some,
    changes: [
      'moveFolderIntoItself',
      'moveFolderUp',
      'exchangeFolders',
      'moveFolder',
      'addToFolder',
      'addToFolder',
      'moveIntoFolder',
      'edit',
    ],
    most: 3,
  },
  'added on both sides': {
    files: few,
    changes: ['add', 'add', 'addToFolder', 'addToFolder', 'move', 'edit'],
    most: 3,
  },
  modes: { files: few, changes: ['mode', 'mode', 'edit', 'move', 'remove', 'add'], most: 3 },
  'files and folders': {
    files: few,
    changes: [
      'fileToFolder',
      'fileToFolder',
      'folderToFile',
      'edit',
      'move',
      'remove',
      'addToFolder',
      'removeFolder',
    ],
    most: 3,
  },
  'large trees': {
    files: (random) => 200 + random.below(250),
    changes: [
      'edit',
      'edit',
      'remove',
      'addToFolder',
      'move',
      'moveAcross',
      'moveFolder',
      'movePartOfFolder',
      'removeFolder',
    ],
    most: 8,
  },
};

function treeMerge({ files, changes, most }: Recipe): (random: Random) => Sides {
  return (random) => {
    const base = startTree(random, files(random));
    const meeting = meetingOf(base, random);
    const drawn = { meeting, changes, ...(most !== undefined && { most }) };
    // One time in eight both sides share what came first.
    const from = chance(random, 8) ? changeTree(base, random, { ...drawn, most: 2 }) : base;
    return {
      base,
      head: changeTree(from.size > 0 ? from : base, random, drawn),
      draft: changeTree(from.size > 0 ? from : base, random, drawn),
    };
  };
}

/** Names of which a source may have one only. */
const CLASHING = [
  ['README.md', 'readme.md'],
  ['src/Main.ts', 'src/main.ts'],
  ['caf\u00e9', 'cafe\u0301'],
  ['\u00c5', '\u212b'],
  ['docs', 'Docs/b'],
  ['a', 'a/b'],
  ['stra\u00dfe', 'STRASSE'],
  ['K', '\u212a'],
  ['lib/\u1e9b\u0323', 'lib/\u1e9b\u0323'.normalize('NFD')],
  ['\u03c3', '\u03c2'],
  ['Src/f', 'src'],
] as const;

/** Each side alone is a source; together they are none, or they are one by what else was done. */
function collision(random: Random): Sides {
  const base = startTree(random, few(random));
  const meeting = meetingOf(base, random);
  const names = random.pick(CLASHING);
  const first = random.below(2);
  const [inHead, inDraft] = [names[first]!, names[1 - first]!];
  if (chance(random, 4)) base.set(inHead, fileOf(text(random, { length: anyLength(random) })));
  const side = (name: string): Files => {
    const files = chance(random, 2)
      ? changeTree(base, random, { meeting, changes: ['edit', 'move', 'remove', 'addToFolder'], most: 2 })
      : new Map(base);
    return withName(files, name, random);
  };
  return { base, head: side(inHead), draft: side(inDraft) };
}

/** Added, or moved there. A name that clashes with it goes. */
function withName(files: Files, name: string, random: Random): Files {
  for (const other of CLASHING.flat()) if (other !== name) files.delete(other);
  const from = files.size > 0 && chance(random, 2) ? random.pick([...files.keys()]) : undefined;
  const file: File =
    from === undefined ? fileOf(text(random, { length: anyLength(random) })) : files.get(from)!;
  if (from !== undefined) files.delete(from);
  for (const other of files.keys())
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) files.delete(other);
  return files.set(name, file);
}

/** Whole folders of one content, or of none: ties that only the order of names decides. */
function ties(random: Random): Sides {
  const contents = times(1 + random.below(2), () => text(random, { length: 3 + random.below(12) }));
  const base: Files = new Map(
    times(
      2 + random.below(5),
      (i) =>
        [
          `${random.pick(['', 'a/', 'b/', 'a/c/'])}${random.pick(['x', 'y', `n${i}`])}`,
          fileOf(random.pick(contents)),
        ] as const,
    ),
  );
  const meeting = meetingOf(base, random);
  const changes: Change[] = [
    'move',
    'moveAcross',
    'renameInPlace',
    'edit',
    'remove',
    'moveIntoFolder',
    'add',
  ];
  return {
    base,
    head: changeTree(base, random, { meeting, changes }),
    draft: changeTree(base, random, { meeting, changes }),
  };
}

export const TREE_MERGES: Record<string, (random: Random) => Sides> = {
  ...Object.fromEntries(Object.entries(RECIPES).map(([name, recipe]) => [name, treeMerge(recipe)])),
  'renames of the same contents': ties,
  'names that clash': collision,
};
