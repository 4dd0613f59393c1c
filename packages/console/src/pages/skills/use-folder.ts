/** A folder that was dropped or chosen for a skill, as it is read. */
import { useRef, useState } from 'react';
import type { Entry } from '../apps/import/entries.ts';
import { scanEntries } from '../apps/import/scan.ts';
import type { Scan } from '../apps/import/scan.ts';
import { nameIn, SKILL_FILE } from './rules.ts';

/** More of a `SKILL.md` is no front matter. */
const FRONT_BYTES = 16 * 1024;

export interface Folder {
  entries: readonly Entry[];
  /** As `SKILL.md` names the skill, else as the folder is called. */
  name: string;
  taken: ReadonlySet<string>;
  scan: Scan;
}

export function useFolder() {
  const [folder, setFolder] = useState<Folder | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const latest = useRef(0);
  const read = async (entries: readonly Entry[], taken: ReadonlySet<string>) => {
    const own = ++latest.current;
    setFault(null);
    try {
      const [first] = entries;
      const only = entries.length === 1 && first?.kind === 'folder' ? first : null;
      const scan = await scanEntries(only ? await only.entries() : entries, { taken });
      const skill = scan.files.find(({ path }) => path === SKILL_FILE);
      const named = skill && nameIn(await skill.file.slice(0, FRONT_BYTES).text());
      if (own === latest.current) setFolder({ entries, taken, scan, name: named ?? only?.name ?? '' });
    } catch (error) {
      if (own === latest.current) setFault(`The folder was not read: ${(error as Error).message}`);
    }
  };
  return {
    folder,
    fault,
    choose: (entries: readonly Entry[]) => void read(entries, new Set()),
    /** Takes in what was left out, or leaves it out again. */
    take(path: string, isTaken: boolean): void {
      if (!folder) return;
      const taken = new Set(folder.taken);
      if (isTaken) taken.add(path);
      else taken.delete(path);
      void read(folder.entries, taken);
    },
    clear(): void {
      latest.current++;
      setFolder(null);
    },
  };
}
