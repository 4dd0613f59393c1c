/** Asks for a build: its command, output directory, time limit and source. */
import type { Build, CreateBuildInput } from '@headrace/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { buildsOfQuery } from '../../api/projects-queries.ts';
import { buildQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useSession } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Field } from '../../ui/fields.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { keep } from '../../ui/storage.ts';
import { Skeleton } from '../../ui/states.tsx';
import { NO_THREAD, buildCommand, createCall } from './command.ts';
import { keptName, readKept, settleKept } from './kept.ts';
import type { Place } from './kept.ts';
import { LayerSwitch, layerOf } from './layer.tsx';
import { useNewestThread } from './threads-of.tsx';
import { LATEST, SourceSelect } from '../sources/source-select.tsx';
import { CommandField, WorkForm } from './work-form.tsx';

export interface BuildDialogProps {
  appId: string;
  /** `NO_THREAD`: of the app. Without it the dialog asks for the thread. */
  threadId?: string | undefined;
  /** What the fields begin with; else what was typed last in this app, else its last build. */
  from?: Build;
  isOpen: boolean;
  onClose: () => void;
}

export function BuildDialog(props: BuildDialogProps) {
  return (
    <Dialog title="New build" isOpen={props.isOpen} onClose={props.onClose}>
      {props.isOpen && <Prefilled {...props} />}
    </Dialog>
  );
}

type Typed = Record<'command' | 'outputDirectory' | 'timeout' | 'setup', string>;

const DEFAULTS: Typed = { command: '', outputDirectory: 'dist', timeout: '600', setup: 'no' };

interface Begin {
  place: Place;
  begin: { typed: Typed; threadId: string | null };
}

function Prefilled(props: BuildDialogProps) {
  const { appId, threadId, from } = props;
  const place: Place = { kind: 'build', userId: useSession().user.id, appId, from };
  const kept = readKept<Typed>(keptName(place));
  const isNeeded = !from && !kept;
  const last = useInfiniteQuery({ ...buildsOfQuery(appId), enabled: isNeeded });
  const newest = useNewestThread(appId, threadId === undefined && !from);
  if ((isNeeded && last.isPending) || newest.isPending) return <Skeleton lines={5} />;
  const model = from ?? itemsOf(last.data)[0];
  const begin = {
    typed: { ...DEFAULTS, ...(model && typedOf(model)), ...kept },
    threadId: threadId ?? from?.threadId ?? newest.id,
  };
  return <Form {...props} place={place} begin={begin} />;
}

const typedOf = ({ command, outputDirectory, timeoutSeconds, setup }: Build): Typed => ({
  command,
  outputDirectory,
  timeout: String(timeoutSeconds),
  setup: layerOf({ setup }),
});

function Form({ appId, threadId, from, onClose, place, begin }: BuildDialogProps & Begin) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const off = useOffReason();
  const [typed, setTyped] = useState(begin.typed);
  const [sourceId, setSource] = useState(LATEST);
  const [chosen, setThread] = useState(begin.threadId);
  const [hasTried, setTried] = useState(false);
  const change = (part: Partial<Typed>) => {
    const next = { ...typed, ...part };
    setTyped(next);
    keep(keptName(place), next);
  };
  const build = useWrite({
    intent: `build in ${appId} ${chosen}`,
    call: (body: CreateBuildInput, options) =>
      chosen === NO_THREAD
        ? client.builds.createOfApp(appId, body, options)
        : client.builds.create(appId, chosen!, body, options),
    onDone: (made) => {
      queries.setQueryData(buildQuery(appId, made.id).queryKey, made);
      settleKept(place);
      onClose();
      void navigate({ to: '/apps/$appId/builds/$buildId', params: { appId, buildId: made.id } });
    },
  });
  const seconds = Number(typed.timeout);
  const isTimeRight = Number.isInteger(seconds) && seconds >= 1 && seconds <= 600;
  const body: CreateBuildInput = {
    command: typed.command,
    outputDirectory: typed.outputDirectory,
    timeoutSeconds: seconds,
    ...(sourceId !== LATEST && { sourceId }),
    ...(typed.setup === 'yes' && { setup: true }),
  };
  const submit = () => {
    setTried(true);
    if (off || !chosen || !typed.command.trim() || !typed.outputDirectory || !isTimeRight) return;
    build.send(body);
  };
  const { fault } = build;
  const outputDirectory = typed.outputDirectory;
  return (
    <WorkForm
      thread={threadId === undefined ? { appId, value: chosen, onChange: setThread } : null}
      isThreadMissing={hasTried && !chosen}
      fault={fault}
      fields={['/command', '/outputDirectory', '/timeoutSeconds']}
      asCode={
        chosen && (
          <AsCode
            method="POST"
            {...createCall('builds', appId, chosen, body)}
            body={body}
            cli={buildCommand({ ...body, appId, threadId: chosen })}
          />
        )
      }
      action="Build"
      isSending={build.isSending}
      onSubmit={submit}
      onClose={onClose}
    >
      <CommandField
        hint="Run by sh -c in the source’s root."
        value={typed.command}
        onChange={(command) => change({ command })}
        fault={fault}
        hasTried={hasTried}
      />
      <Field
        label="Output directory"
        hint="What the build keeps: a path in the source, or . for all of it."
        mono
        maxLength={1024}
        value={outputDirectory}
        onChange={(value) => change({ outputDirectory: value })}
        fault={
          fieldFault(fault, '/outputDirectory') ??
          (hasTried && !outputDirectory ? 'Say which directory is kept.' : null)
        }
      />
      <Field
        label="Time limit in seconds"
        inputMode="numeric"
        value={typed.timeout}
        onChange={(timeout) => change({ timeout })}
        fault={
          fieldFault(fault, '/timeoutSeconds') ??
          (hasTried && !isTimeRight ? 'A whole number from 1 to 600.' : null)
        }
      />
      <SourceSelect
        appId={appId}
        value={sourceId}
        latest={chosen === NO_THREAD ? 'The head' : 'The thread’s latest'}
        known={from?.sourceId}
        knownAs="of this build"
        onChange={setSource}
      />
      <LayerSwitch
        hint="What the setup leaves is below the source. Without it, the build has exactly its source."
        value={typed.setup}
        onChange={(setup) => change({ setup })}
      />
    </WorkForm>
  );
}
