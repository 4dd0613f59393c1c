/** What differs between the artifacts of two builds. */
import type { Manifest } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { manifestQuery } from '../../api/queries.ts';
import { Plain } from '../../code/index.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { bytes, count, plural } from '../../ui/values.tsx';
import { compareManifests } from './manifest.ts';
import type { Change } from './manifest.ts';

const STEP = 400;

export function CompareView({ appId, otherId, now }: { appId: string; otherId: string; now: Manifest }) {
  const other = useQuery(manifestQuery(appId, otherId));
  return <Shown query={other}>{(old) => <Changes old={old} now={now} />}</Shown>;
}

const KINDS = {
  added: { sign: '+', word: 'added', look: 'text-added-mark' },
  removed: { sign: '−', word: 'removed', look: 'text-removed-mark' },
  changed: { sign: '±', word: 'changed', look: 'text-ink' },
  mode: { sign: '±', word: 'mode', look: 'text-ink-2' },
};

function Changes({ old, now }: { old: Manifest; now: Manifest }) {
  const { changes, same, before, after } = useMemo(() => compareManifests(old, now), [old, now]);
  const [most, setMost] = useState(STEP);
  const countOf = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).length;
  if (changes.length === 0)
    return (
      <Empty title="Both builds made the same files">
        <p>{plural(same, 'file')}, equal by content and mode.</p>
      </Empty>
    );
  return (
    <>
      <p className="px-4 py-2 text-ink-2">
        {count(countOf('added'))} added, {count(countOf('removed'))} removed,{' '}
        {count(countOf('changed') + countOf('mode'))} changed, {count(same)} the same. {bytes(before)} before,{' '}
        {bytes(after)} after ({delta(after - before)}).
      </p>
      <div className="overflow-x-auto">
        <table className="table" aria-label="What differs">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Path</th>
              <th scope="col" className="text-right">
                Before
              </th>
              <th scope="col" className="text-right">
                After
              </th>
              <th scope="col" className="text-right">
                By
              </th>
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, most).map((change) => {
              const { sign, word, look } = KINDS[change.kind];
              return (
                <tr key={change.path}>
                  <td className={`whitespace-nowrap ${look}`}>
                    <span aria-hidden className="inline-block w-4 font-mono font-bold">
                      {sign}
                    </span>
                    {word}
                  </td>
                  <td className="long font-mono text-mono">
                    <Plain text={change.path} />
                  </td>
                  <Size value={change.before} />
                  <Size value={change.after} />
                  <td className="text-right whitespace-nowrap tabular-nums">
                    {delta((change.after ?? 0) - (change.before ?? 0))}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {changes.length > most && (
        <div className="px-4 py-2">
          <Button onPress={() => setMost(most + STEP)}>Show more</Button>
        </div>
      )}
    </>
  );
}

const Size = ({ value }: { value: number | null }) => (
  <td className="text-right whitespace-nowrap text-ink-2 tabular-nums">
    {value === null ? '–' : bytes(value)}
  </td>
);

const delta = (value: number): string =>
  value === 0 ? '±0' : value > 0 ? `+${bytes(value)}` : `−${bytes(-value)}`;
