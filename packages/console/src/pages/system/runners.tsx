/** The hosts of sandboxes. */
import type { System } from '@headrace/client';
import { Plain } from '../../code/index.ts';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { bytes, count, plural } from '../../ui/values.tsx';

export function Runners({ runners }: { runners: System['runners'] }) {
  return (
    <Section title="Runners">
      {runners.length === 0 ? (
        <Empty title="No runner reports">
          <p>
            Agents, builds and previews need one. Start a process with the roles worker and runner; its log
            says what is missing.
          </p>
        </Empty>
      ) : (
        runners.map((runner) => <Runner key={`${runner.host} ${runner.id}`} runner={runner} />)
      )}
    </Section>
  );
}

function Runner({ runner }: { runner: System['runners'][number] }) {
  const { id, host, driver, limits, warnings, sandboxes, memoryBytes, freeBytes, egressRefused } = runner;
  return (
    <div className="border-b border-line last:border-b-0">
      <p className="long px-4 pt-1">
        <Plain text={host} /> <span className="text-ink-3">· {id}</span>
      </p>
      <Facts>
        <Fact name="Driver">{driver === 'none' ? <Status status="down" word="none works" /> : driver}</Fact>
        <Fact name="Limits">
          <span>
            memory {limits.memory} · processes {limits.processes} · CPU {limits.cpu}
          </span>
        </Fact>
        <Fact name="Sandboxes">{count(sandboxes)}</Fact>
        {memoryBytes !== null && (
          <Fact name="Memory">
            {bytes(memoryBytes)}
            {freeBytes !== null && `, ${bytes(freeBytes)} of it free`}
          </Fact>
        )}
        <Fact name="Egress">
          {egressRefused === 0 ? 'none refused' : `${plural(egressRefused, 'connection')} refused`}
        </Fact>
        {warnings.length > 0 && (
          <Fact name="Warnings">
            <ul className="flex flex-col gap-1">
              {warnings.map((warning) => (
                <li key={warning} className="long border-l-2 border-wait pl-2">
                  <Plain text={warning} />
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </Facts>
    </div>
  );
}
