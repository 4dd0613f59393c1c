/** A further version of an app. The head stays where it is: only applies move it. */
import type { Project } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { sourcesQuery } from '../../../api/queries.ts';
import { useKeptName } from '../../../ui/kept.ts';
import { keep } from '../../../ui/storage.ts';
import { notify } from '../../../ui/notices.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ImportPanel } from './import-panel.tsx';

/** Opens the stored source when it is there. */
export function ImportDialog({
  app,
  isOpen,
  onClose,
}: {
  app: Pick<Project, 'id' | 'headSourceId'>;
  isOpen: boolean;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const message = useKeptName(`import ${app.id}`);
  return (
    <Dialog title="Import a new version" wide isOpen={isOpen} onClose={onClose}>
      <p className="max-w-[72ch] text-ink-2">
        It is stored as a source. The head does not move: restore the source in a thread, then apply that
        thread.
      </p>
      <ImportPanel
        appId={app.id}
        parentSourceId={app.headSourceId}
        onImported={async ({ id }) => {
          keep(message, null);
          void queries.invalidateQueries({ queryKey: sourcesQuery(app.id).queryKey });
          notify('Imported.');
          onClose();
          await navigate({
            to: '/apps/$appId/sources/$sourceId',
            params: { appId: app.id, sourceId: id },
          });
        }}
      />
    </Dialog>
  );
}
