import type { Settings, UpdateAppSettingsInput } from '@headrace/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useOffReason, useWrite } from '../../api/write.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { useKept } from '../../ui/kept.ts';
import { notify } from '../../ui/notices.tsx';
import { Section } from '../../ui/page.tsx';
import { plural } from '../../ui/values.tsx';
import { Approvals } from './approvals.tsx';
import { changesOf, draftOf, wrongIn } from './draft.ts';
import type { Draft } from './draft.ts';
import { Instructions } from './instructions.tsx';
import type { Level } from './level.ts';
import { Limits, Model } from './limits.tsx';
import type { PartProps } from './part.ts';
import { Previews } from './previews.tsx';
import { PullRequests } from './pull-requests.tsx';
import { Sandbox } from './sandbox.tsx';
import { Setup } from './setup.tsx';

const NOTHING: Partial<Draft> = {};
/** What the parts of the form say at their fields. */
const SHOWN = [
  '/instructions',
  '/modelId',
  '/spendLimitMicros',
  '/budgetMicros',
  '/idleTimeoutMinutes',
  '/egress',
  '/runtime',
  '/setup',
  '/approvals',
  '/concurrency/runs',
  '/concurrency/builds',
  '/preview',
  '/pullRequests',
  '/reviewLoop',
];

/** All settings of an app, a project or the organization. */
export function SettingsForm({
  level,
  stored,
  mayChange,
}: {
  level: Level;
  stored: Settings;
  mayChange: boolean;
}) {
  const { of, appId } = level;
  const [typed, setTyped] = useKept(`settings ${level.name}`, NOTHING);
  const sent = useRef(typed);
  const queries = useQueryClient();
  const organization = useOrganizationSettings(of !== 'organization');
  const write = useWrite({
    intent: `settings of ${level.name}`,
    call: (input: UpdateAppSettingsInput, options) => level.update(input, options),
    onDone: (settings) => {
      queries.setQueryData(level.queryKey, settings);
      // What was typed meanwhile stays.
      setTyped((now) => (now === sent.current ? NOTHING : now));
      notify('Saved. It holds from the next run, build or preview on.');
    },
  });
  // What nobody typed follows what others save meanwhile.
  const draft = { ...draftOf(stored), ...typed };
  const changes = changesOf(stored, draft);
  const props: PartProps = {
    of,
    draft,
    set: (some) => setTyped({ ...typed, ...some }),
    wrong: wrongIn(draft),
    fields: write.fault?.fields ?? [],
    organization,
  };
  return (
    <>
      <fieldset disabled={!mayChange} className="min-w-0">
        <Section title="Model and money">
          <Part>
            <Model {...props} />
          </Part>
        </Section>
        <Section title="Instructions">
          <Part>
            <Instructions appId={appId} {...props} />
          </Part>
        </Section>
        <Section title="Sandboxes">
          <Part>
            <Sandbox {...props} />
          </Part>
        </Section>
        <Section
          title="Setup"
          actions={
            appId !== null && (
              <Link to="/apps/$appId/setups" params={{ appId }} className="link">
                Setups of this {of}
              </Link>
            )
          }
        >
          <Part>
            <Setup {...props} />
          </Part>
        </Section>
        <Section title="Approvals">
          <Part>
            <Approvals {...props} />
          </Part>
        </Section>
        <Section title="At the same time">
          <Part>
            <Limits {...props} />
          </Part>
        </Section>
        <Section title="Previews">
          <Part>
            <Previews appId={appId} stored={stored} {...props} />
          </Part>
        </Section>
        <Section title="Pull requests">
          <Part>
            <PullRequests {...props} />
          </Part>
        </Section>
      </fieldset>
      {Object.keys(changes).length > 0 && (
        <SaveBar
          level={level}
          changes={changes}
          write={write}
          isWrong={Object.keys(props.wrong).length > 0}
          onSave={() => {
            sent.current = typed;
            write.send(changes);
          }}
          onDiscard={() => {
            setTyped(NOTHING);
            write.reset();
          }}
        />
      )}
    </>
  );
}

const Part = ({ children }: { children: ReactNode }) => (
  <div className="flex max-w-[560px] flex-col gap-4 px-4 pt-1 pb-5">{children}</div>
);

/** Only owners and admins may read them: others are not told what is inherited. */
function useOrganizationSettings(isNeeded: boolean): Settings | null {
  const isAdmin = useIsAdmin();
  const { data } = useQuery({ ...organizationSettingsQuery(), enabled: isAdmin && isNeeded });
  return isNeeded ? (data ?? null) : null;
}

function SaveBar({
  level,
  changes,
  write,
  isWrong,
  onSave,
  onDiscard,
}: {
  level: Level;
  changes: UpdateAppSettingsInput;
  write: ReturnType<typeof useWrite<UpdateAppSettingsInput, Settings>>;
  isWrong: boolean;
  onSave: () => void;
  onDiscard: () => void;
}) {
  const off = useOffReason();
  // What has the focus scrolls to above the bar.
  useEffect(() => {
    const { style } = document.documentElement;
    style.scrollPaddingBottom = '96px';
    return () => {
      style.scrollPaddingBottom = '';
    };
  }, []);
  return (
    <div className="sticky bottom-0 z-10 flex flex-col gap-2 border-y border-strong bg-surface px-4 py-2">
      <FaultLine fault={write.fault} at={SHOWN} />
      <div className="flex flex-wrap items-center gap-2">
        <span role="status" className="mr-auto">
          {plural(Object.keys(changes).length, 'setting')} changed
        </span>
        <AsCode
          method="PATCH"
          path={level.path}
          body={changes}
          isSession={level.appId === null}
          ts={level.ts(changes)}
          cli={cliOf(level, changes)}
        />
        <Button onPress={onDiscard} isDisabled={write.isSending}>
          Discard
        </Button>
        <Button
          kind="primary"
          isPending={write.isSending}
          offBecause={off ?? (isWrong ? 'Some fields are wrong: see the marked ones.' : null)}
          onPress={onSave}
        >
          Save
        </Button>
      </div>
    </div>
  );
}

const cliOf = ({ flags }: Level, changes: UpdateAppSettingsInput): string =>
  [
    `headrace settings set ${flags}`,
    ...Object.entries(changes).map(([name, value]) => `${name}:=${quoted(JSON.stringify(value))}`),
  ].join(' ');
