import type { Project } from '@headrace/client';
import { lazy, Suspense, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';

const ImportDialog = lazy(async () => ({
  default: (await import('../apps/import/import-dialog.tsx')).ImportDialog,
}));

/** Opens the import of a new version; shown to who may import. */
export function ImportButton({ app }: { app: Project }) {
  const [isOpen, setOpen] = useState(false);
  if (!useMay('project:update')) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>Import a new version</Button>
      {isOpen && (
        <Suspense>
          <ImportDialog app={app} isOpen onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
