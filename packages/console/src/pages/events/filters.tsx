import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { scopesQuery } from '../../api/running-queries.ts';
import { Button, Toggle } from '../../ui/button.tsx';
import { Select } from '../../ui/fields.tsx';
import { shortId } from '../../ui/values.tsx';
import type { Change, Filter } from './filter.ts';
import { TypeFilter } from './type-filter.tsx';

const ALL = 'all';

export function Filters({
  filter,
  hasApps,
  onChange,
  onFindEvent,
}: {
  filter: Filter;
  hasApps: boolean;
  onChange: (change: Change) => void;
  onFindEvent: (id: string) => void;
}) {
  const { isDirect, appId, threadId, runId, types } = filter;
  const scopes = useQuery(scopesQuery(isDirect ? 'direct' : 'platform')).data ?? [];
  const isKnown = appId === undefined || scopes.some(({ id }) => id === appId);
  const choices = [
    { id: ALL, text: isDirect ? 'All projects' : 'All apps' },
    ...(isKnown ? [] : [{ id: appId, text: shortId(appId) }]),
    ...scopes.map(({ id, name }) => ({ id, text: name })),
  ];
  const feed = (next: 'direct' | undefined) =>
    onChange({ feed: next, appId: undefined, threadId: undefined, runId: undefined });
  const byId = (id: string): boolean => {
    if (id.startsWith('evt_')) onFindEvent(id);
    else if (id.startsWith('thr_')) onChange({ threadId: id });
    else if (id.startsWith('run_')) onChange({ runId: id });
    else if (id.startsWith('prj_')) onChange({ appId: id });
    else return false;
    return true;
  };
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 pb-3">
      {hasApps && (
        <div role="group" aria-label="Feed" className="flex gap-2">
          <Toggle isSelected={!isDirect} onChange={() => feed(undefined)}>
            Apps
          </Toggle>
          <Toggle isSelected={isDirect} onChange={() => feed('direct')}>
            Projects
          </Toggle>
        </div>
      )}
      <div className="max-w-56 min-w-0">
        <Select
          quiet
          label={isDirect ? 'Project' : 'App'}
          choices={choices}
          value={appId ?? ALL}
          onChange={(id) => onChange({ appId: id === ALL ? undefined : id })}
        />
      </div>
      <TypeFilter types={types} onChange={(next) => onChange({ types: next.join(',') })} />
      {threadId !== undefined && (
        <Chip text={`thread ${shortId(threadId)}`} onDrop={() => onChange({ threadId: undefined })} />
      )}
      {runId !== undefined && (
        <Chip text={`run ${shortId(runId)}`} onDrop={() => onChange({ runId: undefined })} />
      )}
      <IdField onId={byId} />
    </div>
  );
}

const Chip = ({ text, onDrop }: { text: string; onDrop: () => void }) => (
  <Button aria-label={`Not only of ${text}`} onPress={onDrop}>
    <span className="font-mono text-mono">{text}</span>
    <X size={14} aria-hidden />
  </Button>
);

/** Narrows by an id, or goes to an event. */
function IdField({ onId }: { onId: (id: string) => boolean }) {
  const [typed, setTyped] = useState('');
  const [isWrong, setWrong] = useState(false);
  return (
    <form
      className="flex min-w-0 grow basis-60 flex-wrap items-center gap-2 sm:max-w-96"
      onSubmit={(event) => {
        event.preventDefault();
        const isTaken = onId(typed.trim());
        setWrong(!isTaken);
        if (isTaken) setTyped('');
      }}
    >
      <input
        data-find
        aria-label="Id of an event, thread, run, app or project"
        aria-invalid={isWrong}
        placeholder="Id of an event, thread, run or app"
        value={typed}
        maxLength={100}
        onChange={({ target }) => setTyped(target.value)}
        className="input min-w-0 flex-1 font-mono text-mono"
      />
      <Button type="submit">Go</Button>
      {isWrong && (
        <span role="alert" className="basis-full text-12 text-fail">
          Paste a whole id, such as evt_…, thr_…, run_… or prj_….
        </span>
      )}
    </form>
  );
}
