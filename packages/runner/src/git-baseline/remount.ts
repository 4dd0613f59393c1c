import { rmdirSync } from 'node:fs';
import { mountLayers, unmountOverlay, type Overlay } from '../workspaces/overlay.ts';

/**
 * `change` moves things while nothing is mounted; `undo` moves them back when the kernel refuses to mount the
 * result.
 */
interface Relayering {
  from: string[];
  to: string[];
  change?: () => void;
  undo?: () => void;
}

/**
 * Mounts a tree over other layers; nothing in it may be live. Throws when that fails, with the tree
 * unchanged. When even the old layers do not mount, the mount point is removed: a sandbox must not find an
 * empty folder there, which would look like a workspace whose files an agent deleted. The next use mounts it
 * again.
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
