/** Automations: work that starts by itself. */
import type { Automation } from '@headrace/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemsOf } from '../../api/query.ts';
import { useMay } from '../../api/session.ts';
import { automationsQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { notify } from '../../ui/notices.tsx';
import { Page } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { plural, Time } from '../../ui/values.tsx';
import { ProjectSelect, useProjectName } from '../tasks/project-select.tsx';
import { NewAutomation } from './form.tsx';
import type { Created } from './form.tsx';
import { HookHelp, HookSecret } from './hook-help.tsx';
import { stateOf, triggerWords } from './words.ts';

const route = getRouteApi('/signed-in/automations');

export function AutomationsPage() {
  const { projectId } = route.useSearch();
  const navigate = route.useNavigate();
  const [over, setOver] = useState<'new' | Created | null>(null);
  const [isHeld, setHeld] = useState(false);
  const mayCreate = useMay('automation:create');
  const automations = useInfiniteQuery(automationsQuery(projectId === undefined ? {} : { projectId }));
  const nameOf = useProjectName();
  const add = () => setOver('new');
  useKeys(mayCreate ? [{ keys: 'n', does: 'New automation', run: add }] : []);
  const show = ({ id: automationId }: Automation) =>
    void navigate({ to: '/automations/$automationId', params: { automationId } });
  const onCreated = (created: Created) => {
    notify(`${created.automation.name} is created.`);
    // What is shown once is shown before all else.
    if (created.secret !== null || created.isLost) return setOver(created);
    setOver(null);
    show(created.automation);
  };
  const created = over === 'new' ? null : over;
  return (
    <Page
      title="Automations"
      actions={
        <>
          <ProjectSelect
            quiet
            all="All projects"
            value={projectId ?? null}
            onChange={(id) => void navigate({ search: id === null ? {} : { projectId: id }, replace: true })}
          />
          {mayCreate && (
            <Button kind="primary" onPress={add}>
              New automation
            </Button>
          )}
        </>
      }
    >
      <Shown query={automations}>
        {(data) => {
          const items = itemsOf(data);
          if (items.length === 0)
            return <NoAutomations projectId={projectId} onNew={mayCreate ? add : null} />;
          return (
            <>
              <ul aria-label="Automations" className="border-t border-line">
                {items.map((automation) => (
                  <Row
                    key={automation.id}
                    automation={automation}
                    projectName={nameOf(automation.projectId)}
                  />
                ))}
              </ul>
              <ShowMore list={automations} />
            </>
          );
        }}
      </Shown>
      <Dialog
        title="New automation"
        wide
        isHeld={isHeld}
        isOpen={over === 'new'}
        onClose={() => setOver(null)}
      >
        <NewAutomation
          projectId={projectId ?? null}
          onHeld={setHeld}
          onCreated={onCreated}
          onClose={() => setOver(null)}
        />
      </Dialog>
      {created && (
        <Dialog title="The secret of the hook" wide isHeld isOpen onClose={() => setOver(null)}>
          <HookSecret secret={created.secret}>
            Copy it now: nobody is shown it again. The automation’s page can replace it.
          </HookSecret>
          <HookHelp automation={created.automation} />
          <div className="flex justify-end">
            <Button
              kind="primary"
              onPress={() => {
                setOver(null);
                show(created.automation);
              }}
            >
              {created.secret === null ? 'Go on' : 'I have copied it'}
            </Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function Row({ automation, projectName }: { automation: Automation; projectName: string }) {
  const { id: automationId, name, trigger, nextRunAt, lastExecutionAt, consecutiveFailures } = automation;
  return (
    <li>
      <Link
        to="/automations/$automationId"
        params={{ automationId }}
        data-row
        className="row flex-wrap gap-y-0 py-1"
      >
        <span className="w-40 shrink-0">
          <Status {...stateOf(automation)} />
        </span>
        <span className="min-w-0 flex-[1_1_240px]">
          <span className="long font-bold">
            <Plain text={name} />
          </span>
          <span className="long line-clamp-2 text-12 text-ink-2">
            <Plain text={triggerWords(trigger)} />
          </span>
        </span>
        <span className="long min-w-0 basis-full text-12 text-ink-3 sm:basis-40">
          <Plain text={projectName} />
        </span>
        <span className="text-12 text-ink-3 sm:w-44 sm:text-right">
          {nextRunAt !== null && (
            <span className="block">
              next <Time at={nextRunAt} />
            </span>
          )}
          {lastExecutionAt === null ? (
            'never ran'
          ) : (
            <>
              last <Time at={lastExecutionAt} />
            </>
          )}
          {consecutiveFailures > 0 && (
            <span className="block text-fail">{plural(consecutiveFailures, 'failure')} in a row</span>
          )}
        </span>
      </Link>
    </li>
  );
}

function NoAutomations({ projectId, onNew }: { projectId: string | undefined; onNew: (() => void) | null }) {
  return (
    <Empty title={projectId === undefined ? 'No automations yet' : 'This project has no automations'}>
      <p>
        An automation starts a thread at times, on an event, or when another system calls: a nightly tidying,
        a look at a failed run, a fix of what Sentry reports.
      </p>
      {onNew && (
        <Button onPress={onNew}>
          {projectId === undefined ? 'Create the first automation' : 'New automation'}
        </Button>
      )}
      {projectId !== undefined && (
        <Link to="/automations" className="link">
          Show the automations of all projects
        </Link>
      )}
    </Empty>
  );
}
