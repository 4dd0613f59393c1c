import { rmdirSync } from 'node:fs';
import { mountLayers, unmountOverlay, type Overlay } from '../workspaces/overlay.ts';

/**
 * `change` moves things while nothing is mounted, and `undo` moves them back where the kernel does not
 * mount what came of it.
 */
interface Relayering {
  from: string[];
  to: string[];
  change?: () => void;
  undo?: () => void;
}

/**
 * Mounts a tree over other layers; nothing of it may be live. Throws where that fails, with the tree as it
 * was. Where not even that mounts again, its mount point goes: no sandbox may find an empty folder there,
 * which would look like a workspace whose files an agent deleted. It is mounted again when it is next used.
 */
export async function remount(overlay: Overlay, { from, to, change, undo }: Relayering): Promise<void> {
  await unmountOverlay(overlay);
  let isChanged = false;
  try {
    change?.();
    isChanged = true;
    await mountLayers(overlay, to);
  } catch (error) {
    try {
      if (isChanged) undo?.();
      await mountLayers(overlay, from);
    } catch {
      rmdirSync(overlay.merged);
    }
    throw error;
  }
}
