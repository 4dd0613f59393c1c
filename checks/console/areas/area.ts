import type { PageScene, Scene } from '../scene.ts';
import type { Write } from '../writes.ts';

/** Pages that belong together, and what is tested of each. */
export interface Area {
  pages: PageScene[];
  /** Further scenes for pictures. */
  scenes: Scene[];
  writes: Write[];
}
