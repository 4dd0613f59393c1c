/** What can be done with a build: cancel it, or make it again. */
import type { Build } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { buildQuery } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { notify } from '../../ui/notices.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { BuildDialog } from './build-dialog.tsx';
import { NO_THREAD, buildCommand, createCall } from './command.ts';

export const isActive = ({ status }: Build): boolean => status === 'queued' || status === 'building';

export function BuildActions({ build }: { build: Build }) {
  const may = useMay('thread:update');
  const [isChanging, setChanging] = useState(false);
  if (!may) return null;
  return (
    <>
      {isActive(build) ? <Cancel build={build} /> : <Repeat build={build} />}
      <Button onPress={() => setChanging(true)}>New build</Button>
      <BuildDialog
        appId={build.projectId}
        threadId={build.threadId ?? NO_THREAD}
        from={build}
        isOpen={isChanging}
        onClose={() => setChanging(false)}
      />
    </>
  );
}

function Cancel({ build }: { build: Build }) {
  const { id, projectId: appId } = build;
  const off = useOffReason();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const cancel = useWrite({
    intent: `cancel ${id}`,
    call: (_: null, options) => client.builds.cancel(appId, id, options),
    onDone: (now) => {
      queries.setQueryData(buildQuery(appId, id).queryKey, now);
      notify('The build is being cancelled');
    },
  });
  return (
    <>
      <FaultLine fault={cancel.fault} />
      <Button kind="danger" isPending={cancel.isSending} offBecause={off} onPress={() => setAsking(true)}>
        Cancel the build
      </Button>
      <AsCode
        method="POST"
        path={`/api/platform/v1/apps/${appId}/builds/${id}/cancel`}
        ts={`client.builds.cancel('${appId}', '${id}')`}
        cli={`headrace builds cancel ${id} --app ${appId}`}
      />
      <Confirm
        title="Cancel this build"
        verb="Cancel the build"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => cancel.send(null)}
      >
        <p>Its command is stopped, and nothing of its output is kept but the log.</p>
      </Confirm>
    </>
  );
}

function Repeat({ build }: { build: Build }) {
  const { projectId: appId, sourceId, command, outputDirectory, timeoutSeconds, setup } = build;
  const threadId = build.threadId ?? NO_THREAD;
  const off = useOffReason();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const body = { sourceId, command, outputDirectory, timeoutSeconds, setup };
  const repeat = useWrite({
    intent: `repeat ${build.id}`,
    call: (input: typeof body, options) =>
      threadId === NO_THREAD
        ? client.builds.createOfApp(appId, input, options)
        : client.builds.create(appId, threadId, input, options),
    onDone: (made) => {
      queries.setQueryData(buildQuery(appId, made.id).queryKey, made);
      void navigate({ to: '/apps/$appId/builds/$buildId', params: { appId, buildId: made.id } });
    },
  });
  return (
    <>
      <FaultLine fault={repeat.fault} />
      <Button isPending={repeat.isSending} offBecause={off} onPress={() => repeat.send(body)}>
        Repeat
      </Button>
      <AsCode
        method="POST"
        {...createCall('builds', appId, threadId, body)}
        body={body}
        cli={buildCommand({ ...body, appId, threadId })}
      />
    </>
  );
}
