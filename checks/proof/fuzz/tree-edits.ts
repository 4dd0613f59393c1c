/**
 * Changes of trees as people make them, drawn so that both sides meet at the same paths, folders and names.
 */
import type { Random } from '../../harness/random.ts';
import { WHOLE_EDITS, anyLength, chance, editRows, rewrite, text, times } from './texts.ts';
import { fileOf, textOf } from './triple.ts';
import type { File, Files } from './triple.ts';

/** What both sides of a merge are drawn to. */
interface Meeting {
  paths: string[];
  folders: string[];
  /** Names of folders and of files that things are moved to. */
  newFolders: string[];
  newNames: string[];
}

export type Change = keyof typeof CHANGES;

const FOLDERS = ['', 'src/', 'src/deep/', 'src/deep/er/', 'lib/', 'docs/', 'lib/util/'];
const NEW_FOLDERS = [
  'new/',
  'src/',
  'lib/',
  'src/new/',
  'moved/deep/',
  '',
  'docs/',
  'lib/util/',
  'src/deep/',
];
const NAMES = ['index', 'a', 'b', 'c', 'main', 'util', 'd', 'e', 'f', 'g'];

/** Texts that are alike, the same, empty or short often: what git takes for renames is then a question. */
export function startTree(random: Random, files: number): Files {
  const tree: Files = new Map();
  const texts: string[] = [];
  const common = random.below(6);
  for (let i = 0; i < files; i++) {
    texts.push(nextText(random, texts, common));
    const path = `${random.pick(FOLDERS)}${random.pick(NAMES)}${chance(random, 3) ? random.below(20) : ''}`;
    tree.set(path, fileOf(texts.at(-1)!, chance(random, 10)));
  }
  return tree;
}

function nextText(random: Random, before: string[], common: number): string {
  if (before.length > 0 && chance(random, 5)) return random.pick(before);
  if (before.length > 0 && chance(random, 5))
    return rewrite(random.pick(before), random, random.below(6) / 10);
  if (chance(random, 15)) return '';
  if (chance(random, 25)) return `\0${random.below(99)}${text(random, { length: 5 })}`;
  return text(random, { length: chance(random, 2) ? 8 + random.below(14) : anyLength(random), common });
}

export function meetingOf(tree: Files, random: Random): Meeting {
  const paths = [...tree.keys()];
  const folders = [
    ...new Set(
      paths.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))),
    ),
  ];
  return {
    paths: times(1 + random.below(3), () => random.pick(paths)),
    folders: folders.length > 0 ? times(1 + random.below(2), () => random.pick(folders)) : ['src/'],
    newFolders: times(1 + random.below(2), () => random.pick(NEW_FOLDERS)),
    newNames: times(
      2 + random.below(2),
      () => `${random.pick(NEW_FOLDERS)}${chance(random, 2) ? random.pick(NAMES) : `n${random.below(3)}`}`,
    ),
  };
}

/** @param changes the kinds that are drawn from: what is in it twice is drawn twice as often. */
export function changeTree(
  tree: Files,
  random: Random,
  { meeting, changes, most = 4 }: { meeting: Meeting; changes: readonly Change[]; most?: number },
): Files {
  const files: Files = new Map(tree);
  for (let n = 1 + random.below(most); n > 0 && files.size > 0; n--)
    CHANGES[random.pick(changes)](files, meeting, random);
  return files;
}

/** Where it is there still: a path that both sides are drawn to, else any. */
function somePath(files: Files, { paths }: Meeting, random: Random): string {
  const met = random.pick(paths);
  return files.has(met) && !chance(random, 4) ? met : random.pick([...files.keys()]);
}

const below = (files: Files, folder: string): string[] =>
  [...files.keys()].filter((path) => path.startsWith(folder));
const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const folderName = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

function edited(file: File, random: Random): File {
  const source = textOf(file);
  const after = chance(random, 12)
    ? random.pick(random.pick(Object.values(WHOLE_EDITS)))(source, random)
    : editRows(source, random, {});
  return { ...file, content: fileOf(after).content };
}

/** Exact, a little edited, or so that git hardly takes it for the same file. */
function asMoved(file: File, random: Random): File {
  if (chance(random, 2)) return file;
  if (chance(random, 2)) return edited(file, random);
  return { ...file, content: fileOf(rewrite(textOf(file), random, (35 + random.below(30)) / 100)).content };
}

function move(files: Files, from: string, to: string, random: Random): void {
  const file = files.get(from);
  if (!file || from === to) return;
  files.delete(from);
  put(files, to, asMoved(file, random));
}

/** Removes what is in the way of a path: a tree has no file where it has a folder. */
function put(files: Files, path: string, file: File): void {
  for (const other of files.keys())
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other);
  files.set(path, file);
}

function moveFolder(
  files: Files,
  from: string,
  to: string,
  { random, only }: { random: Random; only?: (path: string) => boolean },
): void {
  if (from === to) return;
  const moved = below(files, from)
    .filter((path) => only?.(path) ?? true)
    .map((path) => [path, files.get(path)!] as const);
  for (const [path] of moved) files.delete(path);
  for (const [path, file] of moved)
    put(files, to + path.slice(from.length), chance(random, 5) ? asMoved(file, random) : file);
}

const CHANGES = {
  edit(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    files.set(path, edited(files.get(path)!, random));
  },
  remove(files: Files, meeting: Meeting, random: Random) {
    files.delete(somePath(files, meeting, random));
  },
  add(files: Files, meeting: Meeting, random: Random) {
    put(
      files,
      random.pick(meeting.newNames),
      chance(random, 4)
        ? { ...random.pick([...files.values()]) }
        : fileOf(text(random, { length: anyLength(random) }), chance(random, 8)),
    );
  },
  addToFolder(files: Files, { folders }: Meeting, random: Random) {
    put(
      files,
      `${random.pick(folders)}${chance(random, 4) ? 'sub/' : ''}${chance(random, 3) ? random.pick(NAMES) : `new${random.below(3)}`}`,
      fileOf(chance(random, 4) ? 'same\n' : text(random, { length: anyLength(random) })),
    );
  },
  mode(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    files.set(path, { ...files.get(path)!, executable: !files.get(path)!.executable });
  },
  move(files: Files, meeting: Meeting, random: Random) {
    move(files, somePath(files, meeting, random), random.pick(meeting.newNames), random);
  },
  /** Keeps its name: what git looks at first. */
  moveAcross(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    move(files, path, random.pick(meeting.newFolders) + baseName(path), random);
  },
  moveIntoFolder(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    move(
      files,
      path,
      random.pick(meeting.folders) + (chance(random, 2) ? baseName(path) : `in${random.below(3)}`),
      random,
    );
  },
  renameInPlace(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    move(files, path, folderName(path) + random.pick(NAMES), random);
  },
  exchange(files: Files, meeting: Meeting, random: Random) {
    const [a, b] = [somePath(files, meeting, random), random.pick([...files.keys()])];
    const [fileA, fileB] = [files.get(a)!, files.get(b)!];
    files.set(a, asMoved(fileB, random)).set(b, asMoved(fileA, random));
  },
  moveFolder(files: Files, { folders, newFolders }: Meeting, random: Random) {
    moveFolder(files, random.pick(folders), random.pick(newFolders), { random });
  },
  moveFolderIntoItself(files: Files, { folders }: Meeting, random: Random) {
    const folder = random.pick(folders);
    moveFolder(files, folder, `${folder}${random.pick(['in/', 'deep/'])}`, { random });
  },
  moveFolderUp(files: Files, { folders }: Meeting, random: Random) {
    const folder = random.pick(folders);
    moveFolder(files, folder, folder.slice(0, -1).replace(/[^/]*$/, ''), { random });
  },
  movePartOfFolder(files: Files, { folders, newFolders }: Meeting, random: Random) {
    moveFolder(files, random.pick(folders), random.pick(newFolders), {
      random,
      only: () => !chance(random, 3),
    });
  },
  splitFolder(files: Files, { folders }: Meeting, random: Random) {
    const folder = random.pick(folders);
    const half = new Set(below(files, folder).filter(() => chance(random, 2)));
    moveFolder(files, folder, 'one/', { random, only: (path) => half.has(path) });
    moveFolder(files, folder, 'two/', { random });
  },
  exchangeFolders(files: Files, { folders, newFolders }: Meeting, random: Random) {
    const [a, b] = [random.pick(folders), random.pick(newFolders)];
    if (a.startsWith(b) || b.startsWith(a)) return;
    moveFolder(files, a, 'exchanged/', { random });
    moveFolder(files, b, a, { random });
    moveFolder(files, 'exchanged/', b, { random });
  },
  removeFolder(files: Files, { folders }: Meeting, random: Random) {
    for (const path of below(files, random.pick(folders))) files.delete(path);
  },
  fileToFolder(files: Files, meeting: Meeting, random: Random) {
    const path = somePath(files, meeting, random);
    const file = files.get(path)!;
    files.delete(path);
    put(
      files,
      `${path}/${random.pick(NAMES)}`,
      chance(random, 2) ? asMoved(file, random) : fileOf(text(random, { length: 5 })),
    );
    if (chance(random, 2)) put(files, `${path}/${random.pick(NAMES)}`, fileOf(text(random, { length: 5 })));
  },
  folderToFile(files: Files, { folders }: Meeting, random: Random) {
    const folder = random.pick(folders);
    const [first] = below(files, folder);
    put(
      files,
      folder.slice(0, -1),
      first !== undefined && chance(random, 2)
        ? asMoved(files.get(first)!, random)
        : fileOf(text(random, { length: 5 })),
    );
  },
};
