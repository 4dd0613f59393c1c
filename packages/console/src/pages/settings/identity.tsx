import type { App, Project } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { Form } from 'react-aria-components/Form';
import type { AppWord } from '../../api/app-word.ts';
import { client } from '../../api/client.ts';
import { fieldFault } from '../../api/faults.ts';
import { appQuery, externalIdQuery } from '../../api/queries.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Field } from '../../ui/fields.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { Id } from '../../ui/values.tsx';
import { BranchField } from '../projects/branch-field.tsx';
import { commandOf } from './command.ts';
import type { Change } from './command.ts';
import { faultAt } from './draft.ts';
import { MetadataField } from './metadata-field.tsx';
import { isSameMetadata, metadataOf, pairsOf, wrongNames } from './metadata.ts';
import type { Pair } from './metadata.ts';

interface Typed {
  name?: string;
  externalId?: string;
  branch?: string;
  metadata?: Pair[];
  /** What was changed: what somebody else saved since is not overwritten. */
  version?: number;
}
const NOTHING: Typed = {};
const SHOWN = ['/name', '/externalId', '/defaultBranch', '/metadata'];

/** What an app or a project is called, and what its owner keeps with it. */
export function Identity({
  app,
  word,
  mayChange,
}: {
  app: App | Project;
  word: AppWord;
  mayChange: boolean;
}) {
  const [typed, setTyped] = useKept<Typed>(`identity ${app.id}`, NOTHING);
  const sent = useRef(typed);
  const queries = useQueryClient();
  const off = useOffReason();
  const change = changeOf(app, typed);
  const isChanged = Object.keys(change).length > 0;
  const body = { ...change, expectedVersion: typed.version ?? app.version };
  const write = useWrite({
    intent: `update ${word} ${app.id}`,
    call: (input: Change, options): PromiseLike<App | Project> =>
      'kind' in app
        ? client.projects.update(app.id, input, options)
        : client.apps.update(app.id, input, options),
    onDone: (updated) => {
      // What was typed meanwhile stays.
      setTyped((now) => (now === sent.current ? NOTHING : { ...now, version: updated.version }));
      // No event tells a Direct project's new name.
      if ('kind' in updated) void queries.invalidateQueries({ queryKey: ['projects'] });
      else queries.setQueryData(externalIdQuery(app.id).queryKey, updated);
      void queries.invalidateQueries({ queryKey: appQuery(app.id).queryKey, exact: true });
      notify('Saved.');
    },
  });
  const set = (part: Typed) => setTyped((now) => ({ version: app.version, ...now, ...part }));
  const pairs = typed.metadata ?? pairsOf(app.metadata);
  const isWrong = wrongNames(pairs).some((wrong) => wrong !== null);
  const offBecause = off ?? (isWrong ? 'Some fields are wrong: see the marked ones.' : null);
  const isOld = typed.version !== undefined && typed.version !== app.version;
  return (
    <Form
      className="max-w-[560px] px-4 pt-1 pb-5"
      onSubmit={(event) => {
        event.preventDefault();
        if (offBecause || !isChanged || write.isSending) return;
        sent.current = typed;
        write.send(body);
      }}
    >
      <fieldset disabled={!mayChange} className="flex min-w-0 flex-col gap-4">
        <Field
          label="Name"
          value={typed.name ?? app.name}
          onChange={(name) => set({ name })}
          fault={fieldFault(write.fault, '/name')}
          maxLength={200}
          isRequired
        />
        {'kind' in app ? (
          <OfProject
            project={app}
            typed={typed}
            set={set}
            mayChange={mayChange}
            fault={fieldFault(write.fault, '/defaultBranch')}
          />
        ) : (
          <Field
            label="External id"
            hint="Your own id of this app. No two apps have the same."
            mono
            value={typed.externalId ?? app.externalId ?? ''}
            onChange={(externalId) => set({ externalId })}
            fault={fieldFault(write.fault, '/externalId')}
            maxLength={128}
          />
        )}
        <MetadataField
          pairs={pairs}
          onChange={(metadata) => set({ metadata })}
          fault={faultAt(write.fault?.fields ?? [], '/metadata')}
        />
        <div>
          <p className="label">Id</p>
          <Id value={app.id} />
        </div>
        <FaultLine fault={write.fault} at={SHOWN} />
        {isOld && isChanged && (
          <p className="flex flex-wrap items-center gap-2 text-wait">
            Somebody has changed the {word} since you began: what you typed is kept, but not saved over that.
            <Button
              onPress={() => {
                setTyped((now) => ({ ...now, version: app.version }));
                write.reset();
              }}
            >
              Save over it all the same
            </Button>
          </p>
        )}
        {isChanged && (
          <div className="flex items-center gap-2">
            <Button type="submit" kind="primary" isPending={write.isSending} offBecause={offBecause}>
              Save the {word}
            </Button>
            <Button
              isDisabled={write.isSending}
              onPress={() => {
                setTyped(NOTHING);
                write.reset();
              }}
            >
              Discard
            </Button>
            <AsCode
              method="PATCH"
              path={word === 'app' ? `/api/platform/v1/apps/${app.id}` : `/api/projects/${app.id}`}
              body={body}
              ts={`await client.${word}s.update('${app.id}', ${JSON.stringify(body)});`}
              cli={commandOf(app, change)}
            />
          </div>
        )}
      </fieldset>
    </Form>
  );
}

/** Only what differs from what is stored. */
function changeOf(app: App | Project, typed: Typed): Change {
  const { name, externalId, branch, metadata } = typed;
  const said = metadata && metadataOf(metadata);
  return {
    ...(name !== undefined && name.trim() !== app.name && { name: name.trim() }),
    ...('externalId' in app &&
      externalId !== undefined &&
      externalId.trim() !== (app.externalId ?? '') && { externalId: externalId.trim() || null }),
    ...('kind' in app &&
      branch !== undefined &&
      branch.trim() !== (app.defaultBranch ?? '') && { defaultBranch: branch.trim() || null }),
    ...(said && !isSameMetadata(said, app.metadata) && { metadata: said }),
  };
}

function OfProject({
  project: { repositoryId, repoFullName, defaultBranch },
  typed,
  set,
  mayChange,
  fault,
}: {
  project: Project;
  typed: Typed;
  set: (part: Typed) => void;
  mayChange: boolean;
  fault: string | null;
}) {
  if (repositoryId === null) return null;
  return (
    <>
      <div>
        <p className="label">Repository</p>
        <Link to="/organization/repositories/$repositoryId" params={{ repositoryId }} className="link long">
          <Plain text={repoFullName ?? repositoryId} />
        </Link>
        <p className="text-12 text-ink-3">It stays for good.</p>
      </div>
      <BranchField
        repositoryId={repositoryId}
        label="Default branch"
        hint="Threads start from it, and the head follows it."
        value={typed.branch ?? defaultBranch ?? ''}
        onChange={(branch) =>
          typed.branch === undefined && branch === defaultBranch ? null : set({ branch })
        }
        fault={fault}
        isReadOnly={!mayChange}
      />
    </>
  );
}
