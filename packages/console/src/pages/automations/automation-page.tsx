/** An automation: when it starts, what it starts, and its executions. */
import type { Automation } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/session.ts';
import { automationQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Menu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Delete, Disable, RotateSecret, RunNow } from './dialogs.tsx';
import { ExecutionPanel } from './execution-panel.tsx';
import { Executions } from './executions.tsx';
import { About, DisabledNote, Hook, Prompt, Schedule } from './facts.tsx';
import { ChangeAutomation } from './form.tsx';
import { stateOf } from './words.ts';

const route = getRouteApi('/signed-in/automations/$automationId');

type Over = 'run' | 'change' | 'disable' | 'secret' | 'delete';

const HEADINGS: Record<Over, string> = {
  run: 'Run now',
  change: 'Change',
  disable: 'Disable',
  secret: 'Replace the secret of',
  delete: 'Delete',
};

export function AutomationPage() {
  const { automationId } = route.useParams();
  const { execution } = route.useSearch();
  const navigate = route.useNavigate();
  const automation = useQuery(automationQuery(automationId));
  const [over, setOver] = useState<Over | null>(null);
  const mayRun = useMay('automation:run');
  const mayChange = useMay('automation:update');
  const { data } = automation;
  const run = () => setOver('run');
  useKeys(data && mayRun ? [{ keys: 'n', does: 'Run it now', run }] : []);
  const show = (executionId: string | null) =>
    void navigate({
      search: (now) => ({ ...now, execution: executionId ?? undefined }),
      resetScroll: false,
    });
  return (
    <Page
      title={data?.name ?? 'Automation'}
      heading={
        data && (
          <span className="flex flex-wrap items-baseline gap-x-3">
            <span className="long">
              <Plain text={data.name} />
            </span>
            <span className="text-13 font-normal">
              <Status {...stateOf(data)} />
            </span>
          </span>
        )
      }
      actions={data && <Actions automation={data} onAsk={setOver} />}
    >
      <Shown query={automation}>
        {(shown) => (
          <>
            {shown.disabled && <DisabledNote automation={shown} mayChange={mayChange} />}
            <div className="grid grow max-lg:content-start lg:grid-cols-[minmax(0,1fr)_420px]">
              <div className="min-w-0">
                <Executions automation={shown} onRun={mayRun ? run : null} />
              </div>
              {/* On a phone, what is opened stands before the list. */}
              <div
                className={`min-w-0 border-line lg:border-l ${execution === undefined ? '' : 'max-lg:order-first'}`}
              >
                {execution === undefined ? (
                  <>
                    <About automation={shown} />
                    {shown.trigger.kind === 'schedule' && <Schedule automation={shown} />}
                    {shown.trigger.kind === 'webhook' && <Hook automation={shown} />}
                    <Prompt prompt={shown.prompt} />
                  </>
                ) : (
                  <ExecutionPanel
                    key={execution}
                    automationId={automationId}
                    executionId={execution}
                    onClose={() => show(null)}
                  />
                )}
              </div>
            </div>
            <Asked
              automation={shown}
              over={over}
              onClose={() => setOver(null)}
              onStarted={(executionId) => {
                setOver(null);
                show(executionId);
              }}
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Actions({ automation, onAsk }: { automation: Automation; onAsk: (over: Over) => void }) {
  const mayRun = useMay('automation:run');
  const mayChange = useMay('automation:update');
  const mayDelete = useMay('automation:delete');
  const items = [
    ...(mayChange && !automation.disabled ? [{ id: 'disable' as const, text: 'Disable' }] : []),
    ...(mayChange && automation.trigger.kind === 'webhook'
      ? [{ id: 'secret' as const, text: 'Replace the secret' }]
      : []),
    ...(mayDelete ? [{ id: 'delete' as const, text: 'Delete', isDanger: true }] : []),
  ];
  return (
    <>
      {mayChange && <Button onPress={() => onAsk('change')}>Change</Button>}
      {mayRun && (
        <Button kind="primary" onPress={() => onAsk('run')}>
          Run now
        </Button>
      )}
      {items.length > 0 && (
        <Menu
          label="More about this automation"
          icon={<Ellipsis size={14} />}
          items={items.map((item) => ({ ...item, onAction: () => onAsk(item.id) }))}
        />
      )}
    </>
  );
}

function Asked({
  automation,
  over,
  onClose,
  onStarted,
}: {
  automation: Automation;
  over: Over | null;
  onClose: () => void;
  onStarted: (executionId: string) => void;
}) {
  const props = { automation, onClose };
  return (
    <Dialog
      title={over === null ? '' : `${HEADINGS[over]} ${over === 'run' ? '' : automation.name}`.trim()}
      wide={over === 'change' || over === 'secret'}
      // What is shown once is not lost by a click beside it.
      isHeld={over === 'secret'}
      isOpen={over !== null}
      onClose={onClose}
    >
      {over === 'run' && <RunNow {...props} onStarted={({ id }) => onStarted(id)} />}
      {over === 'disable' && <Disable {...props} />}
      {over === 'secret' && <RotateSecret {...props} />}
      {over === 'delete' && <Delete {...props} />}
      {over === 'change' && <ChangeAutomation {...props} />}
    </Dialog>
  );
}
