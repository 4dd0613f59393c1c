/** What the palette finds. Loaded when it is first opened. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Header } from 'react-aria-components/Header';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { SearchField } from 'react-aria-components/SearchField';
import { allThreadsQuery, appQuery, appsQuery } from '../api/queries.ts';
import { itemsOf } from '../api/query.ts';
import { useSession } from '../api/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Status } from '../ui/status.tsx';
import { Failure } from '../ui/states.tsx';
import { addressOfId } from './address-of-id.ts';
import { useOrganizationPlaces, usePlaces } from './places.ts';
import { useMayOpen } from './session.tsx';

/** Of each kind. */
const SHOWN = 8;
/** Nobody waits for what is found by the first letters of a word. */
const TYPING_MS = 250;

/** As `useGlobalKeys` has them. */
const KEYS: Record<string, string> = { Inbox: 'g i', Apps: 'g a', Events: 'g e', System: 'g s' };

interface Go {
  id: string;
  text: string;
  status?: string;
  note?: string;
  /** False: it stays here. */
  go: () => unknown;
}

interface FinderProps {
  typed: string;
  onType: (text: string) => void;
  onClose: () => void;
}

export function Finder(props: FinderProps) {
  return (
    <Dialog title="Find and go" isOpen={useMayOpen()} onClose={props.onClose}>
      <Found {...props} />
    </Dialog>
  );
}

function Found({ typed, onType, onClose }: FinderProps) {
  const { open, missing, fault, forget } = useOpenById();
  const { sections, isSearching, listFault, retry } = useSections(typed.trim(), open);
  const change = (text: string) => {
    onType(text);
    if (text !== typed) forget();
  };
  const go = (item: Go) => void Promise.resolve(item.go()).then((isDone) => isDone !== false && onClose());
  return (
    <Autocomplete inputValue={typed} onInputChange={change}>
      <SearchField aria-label="App, thread, page or id" autoFocus>
        <Input data-palette className="input" placeholder="App, thread, page or id" />
      </SearchField>
      {missing && (
        <p role="alert" className="long">
          {missing}
        </p>
      )}
      {fault !== null && <Failure error={fault} />}
      {listFault && <Failure error={listFault} retry={retry} />}
      {/* The field keeps the focus: what scrolls can be reached by itself. */}
      <div tabIndex={0} role="group" aria-label="Found" className="max-h-[60vh] overflow-y-auto">
        <Menu
          aria-label="Results"
          className="outline-none"
          renderEmptyState={() =>
            !listFault && (
              <p className="px-2 py-4 text-ink-3">{isSearching ? 'Searching…' : 'Nothing found.'}</p>
            )
          }
        >
          {sections.map(({ title, items }) => (
            <MenuSection key={title} className="not-first:mt-2">
              <Header className="label px-2.5 py-1">{title}</Header>
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
                  {item.note && (
                    <span className="ml-auto shrink-0 font-mono text-12 text-ink-3">{item.note}</span>
                  )}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </div>
    </Autocomplete>
  );
}

const ID = /^[a-z]{2,5}_[0-9a-z]{20,}$/;

/** Looks for the page of an id; closing the palette, or other text, ends that. */
function useOpenById() {
  const navigate = useNavigate();
  const [missing, setMissing] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const search = useRef<AbortController>(undefined);
  useEffect(() => () => search.current?.abort(), []);
  const forget = () => {
    search.current?.abort();
    setMissing(null);
    setFault(null);
  };
  const open = async (id: string): Promise<boolean> => {
    forget();
    const own = new AbortController();
    search.current = own;
    try {
      const { href, isCut } = await addressOfId(id, own.signal);
      if (own.signal.aborted) return false;
      if (href === null) setMissing(isCut ? `Not found among the newest: ${id}.` : `No page shows ${id}.`);
      else await navigate({ href });
      return href !== null;
    } catch (error) {
      if (!own.signal.aborted) setFault(error);
      return false;
    }
  };
  return { open, missing, fault, forget };
}

/** The text once nobody has typed for a moment. */
function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}

/** Of the app that is open. */
function usePagesHere(): Go[] {
  const navigate = useNavigate();
  const { appId } = useParams({ strict: false });
  // The page has read it.
  const { data: app } = useQuery({ ...appQuery(appId ?? ''), enabled: false });
  const word = app?.kind === 'direct' ? 'project' : 'app';
  const sourceId = app?.headSourceId;
  return [
    ...(appId !== undefined && sourceId
      ? [
          {
            id: 'search',
            text: `Search the files of this ${word}`,
            go: () =>
              navigate({
                to: '/apps/$appId/sources/$sourceId',
                params: { appId, sourceId },
                search: { q: '' },
              }),
          },
        ]
      : []),
    ...(appId === undefined
      ? []
      : [
          {
            id: 'variables',
            text: `Variables of this ${word}`,
            go: () => navigate({ to: '/apps/$appId/environment', params: { appId } }),
          },
          {
            id: 'setups',
            text: `Setups of this ${word}`,
            go: () => navigate({ to: '/apps/$appId/setups', params: { appId } }),
          },
          {
            id: 'skills',
            text: `Skills of this ${word}`,
            go: () => navigate({ to: '/apps/$appId/skills', params: { appId } }),
          },
        ]),
  ];
}

function useSections(query: string, open: (id: string) => Promise<boolean>) {
  const navigate = useNavigate();
  const pagesHere = usePagesHere();
  const places = usePlaces();
  const ofOrganization = useOrganizationPlaces();
  const isId = ID.test(query);
  const asked = isId ? '' : query;
  const search = useTyped(asked);
  const { platformApi } = useSession().entitlements;
  const apps = useInfiniteQuery({
    ...appsQuery(search),
    placeholderData: keepPreviousData,
    enabled: platformApi,
  });
  const threads = useInfiniteQuery({
    ...allThreadsQuery(search ? { query: search } : { sort: 'activity' }),
    placeholderData: keepPreviousData,
  });
  const lists = [...(platformApi ? [apps] : []), threads];
  const byId: Go[] = isId ? [{ id: query, text: `Open ${query}`, go: () => open(query) }] : [];
  const pages: Go[] = [
    ...places.map((place) => ({
      id: `to ${place.to}`,
      text: place.text,
      ...(KEYS[place.text] && { note: KEYS[place.text] }),
      go: () => navigate({ to: place.to }),
    })),
    { id: 'account', text: 'Your account', go: () => navigate({ to: '/account' }) },
    ...ofOrganization.map((place) => ({
      id: `organization ${place.to}`,
      text: `Organization: ${place.text}`,
      go: () => navigate({ to: place.to }),
    })),
    ...pagesHere,
  ].filter(({ text }) => text.toLowerCase().includes(query.toLowerCase()));
  const found = (items: Go[], title: string) =>
    items.length ? [{ title, items: items.slice(0, SHOWN) }] : [];
  const sections = [
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
      itemsOf(threads.data).map(({ id, projectId, title, status, forkedFrom }) => ({
        id,
        text: title ?? 'Untitled thread',
        status,
        ...(forkedFrom && { note: 'fork' }),
        go: () =>
          navigate({ to: '/apps/$appId/threads/$threadId', params: { appId: projectId, threadId: id } }),
      })),
      'Threads',
    ),
    ...found(pages, 'Pages'),
  ];
  return {
    sections,
    isSearching:
      asked !== search || lists.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData),
    listFault: lists.find(({ isError }) => isError)?.error,
    retry: () => {
      for (const { isError, refetch } of lists) if (isError) void refetch();
    },
  };
}
