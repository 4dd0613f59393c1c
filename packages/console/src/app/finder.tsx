/** What the palette finds. Loaded when it is first opened. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import { allThreadsQuery, appsQuery, itemsOf } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Status } from '../ui/status.tsx';
import { Failure } from '../ui/states.tsx';
import { addressOfId } from './address-of-id.ts';

/** Of each kind. */
const SHOWN = 8;

interface Go {
  id: string;
  text: string;
  status?: string;
  note?: string;
  go: () => unknown;
}

export function Finder({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Find and go" isOpen onClose={onClose}>
      <Found onGone={onClose} />
    </Dialog>
  );
}

function Found({ onGone }: { onGone: () => void }) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<unknown>(null);
  const query = useDeferredValue(typed.trim());
  const sections = useSections(query, setFault);
  const go = (item: Go) => {
    setFault(null);
    void Promise.resolve(item.go()).then((isDone) => isDone !== false && onGone());
  };
  return (
    <Autocomplete inputValue={typed} onInputChange={setTyped}>
      <SearchField aria-label="App, thread, page or id" autoFocus>
        <Input className="input" placeholder="App, thread, page or id" />
      </SearchField>
      {fault !== null && <Failure error={fault} />}
      <Menu
        aria-label="Results"
        className="max-h-[50vh] overflow-y-auto outline-none"
        renderEmptyState={() => <p className="px-2 py-4 text-ink-3">Nothing found.</p>}
      >
        {sections.map(({ title, items }) => (
          <MenuSection key={title}>
            <Header className="label px-2 py-1">{title}</Header>
            {items.map((item) => (
              <MenuItem
                key={item.id}
                id={item.id}
                textValue={item.text}
                className="item"
                onAction={() => go(item)}
              >
                {item.status && <Status status={item.status} bare />}
                <span className="truncate">{item.text}</span>
                {item.note && <span className="ml-auto shrink-0 text-12 text-ink-3">{item.note}</span>}
              </MenuItem>
            ))}
          </MenuSection>
        ))}
      </Menu>
    </Autocomplete>
  );
}

const ID = /^[a-z]{2,5}_[0-9a-z]{20,}$/;

function useSections(query: string, onFault: (error: unknown) => void): { title: string; items: Go[] }[] {
  const navigate = useNavigate();
  const isId = ID.test(query);
  const search = isId ? '' : query;
  const apps = useInfiniteQuery(appsQuery(search));
  const threads = useInfiniteQuery(allThreadsQuery(search ? { query: search } : { sort: 'activity' }));
  const byId: Go[] = isId
    ? [
        {
          id: query,
          text: `Open ${query}`,
          go: async () => {
            try {
              await navigate({ href: await addressOfId(query) });
              return true;
            } catch (error) {
              onFault(error);
              return false;
            }
          },
        },
      ]
    : [];
  const pages: Go[] = [
    { id: 'inbox', text: 'Inbox', note: 'g i', go: () => navigate({ to: '/' }) },
    { id: 'apps', text: 'Apps', note: 'g a', go: () => navigate({ to: '/apps' }) },
    { id: 'account', text: 'Your account', go: () => navigate({ to: '/account' }) },
  ].filter(({ text }) => text.toLowerCase().includes(query.toLowerCase()));
  const found = (items: Go[], title: string) =>
    items.length ? [{ title, items: items.slice(0, SHOWN) }] : [];
  return [
    ...found(byId, 'By id'),
    ...found(
      itemsOf(apps.data).map(({ id, name }) => ({
        id,
        text: name,
        go: () => navigate({ to: '/apps/$appId', params: { appId: id } }),
      })),
      'Apps',
    ),
    ...found(
      itemsOf(threads.data).map(({ id, projectId, title, status }) => ({
        id,
        text: title ?? 'Untitled thread',
        status,
        go: () =>
          navigate({ to: '/apps/$appId/threads/$threadId', params: { appId: projectId, threadId: id } }),
      })),
      'Threads',
    ),
    ...found(pages, 'Pages'),
  ];
}
