/** What runs, and what waits to be run. */
import type { System } from '@headrace/client';
import { Plain } from '../../code/index.ts';
import { Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time, count, duration, plural } from '../../ui/values.tsx';

/** As the service: a process that is silent for longer is not counted on. */
const ALIVE_MS = 30_000;

/** `pullRequestSyncs`: pull request syncs. */
export const wordsOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const NUMBER = 'text-right tabular-nums';

export function Queues({ queues }: { queues: System['queues'] }) {
  const isIdle = ({ waiting, running, failing }: System['queues'][number]) =>
    waiting + running + failing === 0;
  const busy = queues.filter((queue) => !isIdle(queue));
  const idle = queues.filter(isIdle);
  return (
    <Section title="Queues">
      {busy.length > 0 && (
        <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Queues">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Queue</th>
                {['Waiting', 'Running', 'Oldest waits for', 'Failing'].map((name) => (
                  <th key={name} scope="col" className={NUMBER}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {busy.map(({ name, waiting, running, oldestSeconds, failing }) => (
                <tr key={name}>
                  <th scope="row" className="border-line text-13 text-ink first-letter:uppercase">
                    {wordsOf(name)}
                  </th>
                  <td className={NUMBER}>{count(waiting)}</td>
                  <td className={NUMBER}>{count(running)}</td>
                  <td className={NUMBER}>{oldestSeconds === null ? '–' : duration(oldestSeconds * 1000)}</td>
                  <td className={NUMBER}>
                    {failing > 0 ? <Status status="failed" word={count(failing)} /> : 0}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {idle.length > 0 && (
        <p className="long px-4 py-2 text-ink-3">
          {busy.length > 0 ? 'Nothing waits or runs in the others: ' : 'Nothing waits or runs: '}
          {idle.map(({ name }) => wordsOf(name)).join(', ')}.
        </p>
      )}
    </Section>
  );
}

/** `readAt`: what was not read since then says nothing about them. */
export function Processes({ processes, readAt }: { processes: System['processes']; readAt: number }) {
  return (
    <Section title="Processes">
      <ul aria-label="Processes">
        {processes.map(({ id, host, roles, startedAt, lastSeenAt }) => {
          const isSilent = readAt - Date.parse(lastSeenAt) > ALIVE_MS;
          return (
            <li key={id} className="row flex-wrap gap-y-0">
              <span className="w-24 shrink-0">
                <Status status={isSilent ? 'down' : 'ok'} word={isSilent ? 'silent' : 'alive'} />
              </span>
              <span className="long flex-[1_1_160px]">
                <Plain text={host} />
                <span className="text-ink-3"> · {roles.join(', ')}</span>
              </span>
              <Id value={id} />
              <span className="text-12 text-ink-3">
                started <Time at={startedAt} />, seen <Time at={lastSeenAt} />
              </span>
            </li>
          );
        })}
      </ul>
      <p className="px-4 py-2 text-12 text-ink-3">
        {plural(processes.length, 'process', 'processes')}. A silent one is listed for an hour.
      </p>
    </Section>
  );
}
