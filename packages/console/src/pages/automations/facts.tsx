/** What an automation is set to. */
import type { Automation } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useOffReason } from '../../api/write.ts';
import { scheduleQuery } from '../../api/work-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Button } from '../../ui/button.tsx';
import { FaultLine } from '../../ui/fault-line.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { dollars, Id, plural, Time } from '../../ui/values.tsx';
import { useProjectName } from '../tasks/project-select.tsx';
import { HookHelp } from './hook-help.tsx';
import { NextTimes } from './next-times.tsx';
import { useChange } from './use-change.ts';
import { triggerWords } from './words.ts';

const OVERLAP: Record<string, string> = {
  skip: 'skipped while another execution is open',
  queue: 'waits while another execution is open',
  allow: 'runs beside other executions',
};
const PULL_REQUEST: Record<string, string> = { none: 'none', draft: 'a draft', open: 'an open one' };

export function About({ automation }: { automation: Automation }) {
  const { projectId, trigger, filter, modelId, baseBranch, pullRequest, disableAfterFailures } = automation;
  const nameOf = useProjectName();
  return (
    <Facts>
      <Fact name="Starts">
        <Plain text={triggerWords(trigger)} />
      </Fact>
      {filter.length > 0 && (
        <Fact name="Conditions">
          <span className="flex flex-col">
            {filter.map(({ path, op, value }, at) => (
              <code key={at} className="long font-mono text-mono">
                <Plain text={`${path} ${op}${value === undefined ? '' : ` ${JSON.stringify(value)}`}`} />
              </code>
            ))}
          </span>
        </Fact>
      )}
      <Fact name="Project">
        <Link to="/apps/$appId" params={{ appId: projectId }} className="link long">
          <Plain text={nameOf(projectId)} />
        </Link>
        <Link to="/automations" search={{ projectId }} className="link">
          its automations
        </Link>
      </Fact>
      <Fact name="Model">
        {modelId === null ? (
          <span className="text-ink-3">as the project is set</span>
        ) : (
          <Plain text={modelId} />
        )}
      </Fact>
      {baseBranch !== null && (
        <Fact name="Base branch">
          <code className="long font-mono text-mono">
            <Plain text={baseBranch} />
          </code>
        </Fact>
      )}
      <Fact name="Pull request">{PULL_REQUEST[pullRequest] ?? pullRequest}</Fact>
      <Fact name="Overlap">{OVERLAP[automation.overlap] ?? automation.overlap}</Fact>
      {trigger.kind === 'schedule' && (
        <Fact name="Downtime">
          {automation.catchUp ? 'the newest missed time runs' : 'missed times are skipped'}
        </Fact>
      )}
      <Fact name="Limits">{limitsOf(automation)}</Fact>
      <Fact name="Failures">
        {`${automation.consecutiveFailures} in a row; `}
        {disableAfterFailures === null ? 'they never disable it' : `disabled after ${disableAfterFailures}`}
      </Fact>
      <Fact name="Last start">
        <Time at={automation.lastExecutionAt} />
      </Fact>
      <Fact name="Created">
        <Time at={automation.createdAt} />
      </Fact>
      <Fact name="Id">
        <Id value={automation.id} />
      </Fact>
    </Facts>
  );
}

function limitsOf({ spendLimitMicros, monthlyLimitMicros }: Automation): string {
  const limits = [
    ...(spendLimitMicros === null ? [] : [`${dollars(spendLimitMicros)} a thread`]),
    ...(monthlyLimitMicros === null ? [] : [`${dollars(monthlyLimitMicros)} a month`]),
  ];
  return limits.length === 0 ? 'none of its own' : limits.join(', ');
}

/** Says that it does not start by itself, why, and lets a person enable it. */
export function DisabledNote({ automation, mayChange }: { automation: Automation; mayChange: boolean }) {
  const { id, disabledReason, consecutiveFailures } = automation;
  const off = useOffReason();
  const change = useChange(automation);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-y border-line bg-wait-wash px-4 py-2">
      <p className="long min-w-0 flex-1 basis-60">
        {disabledReason === 'failures'
          ? `Disabled after ${plural(consecutiveFailures, 'failure')} in a row. Read the errors of its executions, fix the cause, then enable it.`
          : 'Disabled: it starts only by hand.'}
      </p>
      <FaultLine fault={change.fault} />
      {mayChange && (
        <>
          <AsCode
            method="PATCH"
            path={`/api/automations/${id}`}
            body={{ disabled: false }}
            ts={`await client.automations.update('${id}', { disabled: false });`}
            cli={`headrace automations enable ${id}`}
          />
          <Button
            kind="primary"
            isPending={change.isSending}
            offBecause={off}
            onPress={() => change.send({ disabled: false })}
          >
            Enable
          </Button>
        </>
      )}
    </div>
  );
}

export function Schedule({ automation }: { automation: Automation }) {
  const { trigger, disabled, nextRunAt } = automation;
  const { cron, timeZone } = trigger as Extract<Automation['trigger'], { kind: 'schedule' }>;
  const times = useQuery({ ...scheduleQuery(cron, timeZone, nextRunAt), enabled: !disabled });
  return (
    <Section title="Next times">
      <div className={`px-4 pb-3 ${disabled ? '' : 'min-h-26'}`}>
        {disabled ? (
          <p className="text-ink-3">None while it is disabled.</p>
        ) : (
          <Shown query={times} skeleton={<Skeleton lines={5} height={20} />}>
            {(shown) => <NextTimes times={shown} timeZone={timeZone} />}
          </Shown>
        )}
      </div>
    </Section>
  );
}

export function Prompt({ prompt }: { prompt: string }) {
  return (
    <Section title="Prompt">
      <pre
        tabIndex={0}
        aria-label="Prompt"
        className="mx-4 mb-3 max-h-80 overflow-auto rounded bg-sunk p-2 font-mono text-mono whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        <Plain text={prompt} />
      </pre>
    </Section>
  );
}

export function Hook({ automation }: { automation: Automation }) {
  return (
    <Section title="Hook">
      <details className="px-4 pb-3">
        <summary className="link">How another system calls it</summary>
        <div className="pt-2">
          <HookHelp automation={automation} />
        </div>
      </details>
    </Section>
  );
}
