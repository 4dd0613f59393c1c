/** The first version of an app: an import, then it becomes the head. A reload between the two goes on. */
import { isCode } from '@headrace/client';
import type { Project, Source } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from '../../../api/client.ts';
import { appQuery, sourcesQuery } from '../../../api/queries.ts';
import { itemsOf } from '../../../api/query.ts';
import { useMay } from '../../../api/session.ts';
import { useOffReason, useWrite } from '../../../api/write.ts';
import { AsCode } from '../../../ui/as-code.tsx';
import { Button } from '../../../ui/button.tsx';
import { FaultLine } from '../../../ui/fault-line.tsx';
import { useKeptName } from '../../../ui/kept.ts';
import { keep, read } from '../../../ui/storage.ts';
import { notify } from '../../../ui/notices.tsx';
import { Empty } from '../../../ui/states.tsx';
import { useAppWord } from '../../../api/app-word.ts';
import { Id, Time } from '../../../ui/values.tsx';
import { ImportPanel } from './import-panel.tsx';

/** Shown on an app that has no head. */
export function FirstImport({ app }: { app: Pick<Project, 'id' | 'name'> }) {
  const mayImport = useMay('project:update');
  const word = useAppWord();
  const queries = useQueryClient();
  const sources = useInfiniteQuery(sourcesQuery(app.id));
  const kept = useKeptName(`first source of ${app.id}`);
  const message = useKeptName(`import ${app.id}`);
  const initialize = useWrite({
    intent: `initialize the head of ${app.id}`,
    call: async (sourceId: string, options) => {
      try {
        await client.head.initialize(app.id, { sourceId }, options);
      } catch (error) {
        // Somebody else was first: the app has what it needs.
        if (!isCode(error, 'head_already_initialized')) throw error;
      }
    },
    onDone: () => {
      keep(kept, null);
      keep(message, null);
      notify(`Imported. The ${word} has its first head.`);
      void queries.invalidateQueries({ queryKey: appQuery(app.id).queryKey });
    },
  });
  const { send } = initialize;
  // The page was reloaded after the import was answered.
  useEffect(() => {
    const sourceId = read<string>(kept);
    if (sourceId) send(sourceId);
    // oxlint-disable-next-line react/exhaustive-deps -- once per app
  }, [kept]);
  const onImported = async (source: Source) => {
    keep(kept, source.id);
    // Its fault is shown.
    await initialize.sendAsync(source.id).catch(() => {});
  };
  const [newest] = itemsOf(sources.data);

  if (!mayImport)
    return (
      <Empty title={`This ${word} has no files yet`}>
        <p>Someone who may change the {word} imports its first version.</p>
      </Empty>
    );
  return (
    <div className="flex max-w-[760px] flex-col gap-4 px-4 py-4">
      <div>
        <p className="text-15 font-bold">Import the first version</p>
        <p className="text-ink-2">Threads start from it, and applies move it on.</p>
      </div>
      {initialize.fault && <p>The files are stored, but they are not the head yet.</p>}
      <FaultLine fault={initialize.fault} />
      {newest && <MakeHead app={app} source={newest} isSending={initialize.isSending} onPress={send} />}
      <ImportPanel appId={app.id} parentSourceId={null} onImported={onImported} />
    </div>
  );
}

function MakeHead({
  app,
  source,
  isSending,
  onPress,
}: {
  app: Pick<Project, 'id'>;
  source: Source;
  isSending: boolean;
  onPress: (sourceId: string) => void;
}) {
  const off = useOffReason();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-y border-line py-2">
      <span className="long mr-auto">
        A version is stored: <Id value={source.id} /> <Time at={source.createdAt} />
        {source.message && `, ${source.message.slice(0, 200)}`}
      </span>
      <Button kind="primary" isPending={isSending} offBecause={off} onPress={() => onPress(source.id)}>
        Make it the head
      </Button>
      <AsCode
        method="POST"
        path={`/api/platform/v1/apps/${app.id}/source-head/initialize`}
        body={{ sourceId: source.id }}
        ts={`await client.head.initialize('${app.id}', { sourceId: '${source.id}' });`}
      />
    </div>
  );
}
