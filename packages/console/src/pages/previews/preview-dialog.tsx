/** Starts a preview: a command that serves, and its port. */
import type { CreateAppPreviewInput, Preview } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { previewsOfQuery } from '../../api/projects-queries.ts';
import { previewQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useSession } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Field } from '../../ui/fields.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { keep } from '../../ui/storage.ts';
import { Skeleton } from '../../ui/states.tsx';
import { keptName, readKept, settleKept } from '../builds/kept.ts';
import type { Place } from '../builds/kept.ts';
import { NO_THREAD, createCall } from '../builds/command.ts';
import { useNewestThread } from '../builds/threads-of.tsx';
import { LayerSwitch, layerOf } from '../builds/layer.tsx';
import { CommandField, WorkForm } from '../builds/work-form.tsx';

export interface PreviewDialogProps {
  appId: string;
  /** `NO_THREAD`: of the app. Without it the dialog asks for the thread. */
  threadId?: string | undefined;
  /** What the fields begin with; else what was typed last in this app, else its last preview. */
  from?: Preview | undefined;
  isOpen: boolean;
  onClose: () => void;
  onStarted: (preview: Preview) => void;
}

export function PreviewDialog(props: PreviewDialogProps) {
  return (
    <Dialog title="Start a preview" isOpen={props.isOpen} onClose={props.onClose}>
      {props.isOpen && <Prefilled {...props} />}
    </Dialog>
  );
}

type Typed = Record<'command' | 'port' | 'setup', string>;

interface Begin {
  place: Place;
  begin: { typed: Typed; threadId: string | null };
}

function Prefilled(props: PreviewDialogProps) {
  const { appId, threadId, from } = props;
  const place: Place = { kind: 'preview', userId: useSession().user.id, appId, from };
  const kept = readKept<Typed>(keptName(place));
  const isNeeded = !from && !kept;
  const last = useInfiniteQuery({ ...previewsOfQuery(appId), enabled: isNeeded });
  const newest = useNewestThread(appId, threadId === undefined && !from);
  if ((isNeeded && last.isPending) || newest.isPending) return <Skeleton lines={4} />;
  const model = from ?? itemsOf(last.data)[0];
  const begin = {
    typed: {
      command: model?.command ?? '',
      port: String(model?.port ?? 3000),
      setup: layerOf(model ?? { setup: true }),
      ...kept,
    },
    threadId: threadId ?? from?.threadId ?? newest.id,
  };
  return <Form {...props} place={place} begin={begin} />;
}

function Form({ appId, threadId, from, onClose, onStarted, place, begin }: PreviewDialogProps & Begin) {
  const queries = useQueryClient();
  const off = useOffReason();
  const [typed, setTyped] = useState(begin.typed);
  const [chosen, setThread] = useState(begin.threadId);
  const [hasTried, setTried] = useState(false);
  const change = (part: Partial<Typed>) => {
    const next = { ...typed, ...part };
    setTyped(next);
    keep(keptName(place), next);
  };
  const start = useWrite({
    intent: `preview in ${appId} ${chosen}`,
    call: (body: CreateAppPreviewInput, options) =>
      chosen === NO_THREAD
        ? client.previews.createOfApp(appId, body, options)
        : client.previews.create(appId, chosen!, body, options),
    onDone: (made) => {
      queries.setQueryData(previewQuery(appId, made.id).queryKey, made);
      settleKept(place);
      onClose();
      onStarted(made);
    },
  });
  const port = Number(typed.port);
  const isPortRight = Number.isInteger(port) && port >= 1 && port <= 65_535;
  // One that shows one source is started again with it.
  const kept = chosen === NO_THREAD && from?.follow === null ? from.sourceId : null;
  const isBare = typed.setup === 'no';
  const body = {
    command: typed.command,
    port,
    ...(kept !== null && { sourceId: kept }),
    ...(isBare && { setup: false }),
  };
  const submit = () => {
    setTried(true);
    if (off || !chosen || !typed.command.trim() || !isPortRight) return;
    start.send(body);
  };
  const { fault } = start;
  return (
    <WorkForm
      thread={threadId === undefined ? { appId, value: chosen, onChange: setThread } : null}
      isThreadMissing={hasTried && !chosen}
      fault={fault}
      fields={['/command', '/port']}
      asCode={
        chosen && (
          <AsCode
            method="POST"
            {...createCall('previews', appId, chosen, body)}
            body={body}
            cli={`headrace preview ${chosen} --app ${appId}${kept === null ? '' : ` --source ${kept}`} --port ${port}${isBare ? ' --no-setup' : ''} -- ${quoted(typed.command)}`}
          />
        )
      }
      action="Start"
      isSending={start.isSending}
      onSubmit={submit}
      onClose={onClose}
    >
      <CommandField
        hint="A server, run by sh -c in the root of the latest source. Newer sources are written into it."
        value={typed.command}
        onChange={(command) => change({ command })}
        fault={fault}
        hasTried={hasTried}
      />
      <Field
        label="Port"
        hint="Where the server listens."
        inputMode="numeric"
        value={typed.port}
        onChange={(value) => change({ port: value })}
        fault={
          fieldFault(fault, '/port') ?? (hasTried && !isPortRight ? 'A whole number from 1 to 65535.' : null)
        }
      />
      <LayerSwitch
        hint="What the setup leaves, such as dependencies, is below the source."
        value={typed.setup}
        onChange={(setup) => change({ setup })}
      />
    </WorkForm>
  );
}
