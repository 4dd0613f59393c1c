/** One host: how it is, and the folders that it offers. */
import type { Binding, Host } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { bindingsQuery, hostQuery } from '../../api/hosts-queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Plain } from '../../code/plain.tsx';
import { Fact, Facts, Page, Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { HostActions } from './host-actions.tsx';
import { sharedWith, statusOf } from './words.ts';

const route = getRouteApi('/signed-in/organization/hosts/$hostId');

export function HostPage() {
  const { hostId } = route.useParams();
  const host = useQuery(hostQuery(hostId));
  const { data } = host;
  return (
    <Page title={data?.name ?? 'Host'} actions={data && <HostActions host={data} />}>
      <Shown query={host}>
        {(shown) => (
          <>
            <About host={shown} />
            <Bindings hostId={hostId} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function About({ host }: { host: Host }) {
  const { id, userId, providers, version, lastSeenAt, createdAt } = host;
  return (
    <Facts>
      <Fact name="State">
        <Status {...statusOf(host)} />
      </Fact>
      <Fact name="Last seen">{lastSeenAt === null ? 'never' : <Time at={lastSeenAt} />}</Fact>
      <Fact name="Works">{sharedWith(host)}</Fact>
      <Fact name="Agents">{providers.length === 0 ? 'none' : providers.join(', ')}</Fact>
      <Fact name="Program">{version === null ? 'none yet' : <Plain text={version} />}</Fact>
      <Fact name="Its person">
        <Id value={userId} />
      </Fact>
      <Fact name="Id">
        <Id value={id} />
      </Fact>
      <Fact name="Added">
        <Time at={createdAt} />
      </Fact>
    </Facts>
  );
}

function Bindings({ hostId }: { hostId: string }) {
  const bindings = useInfiniteQuery(bindingsQuery(hostId));
  const items = itemsOf(bindings.data);
  return (
    <Section title="Folders">
      <Shown query={bindings}>
        {() =>
          items.length === 0 ? (
            <Empty title="No folders yet">
              <p>Its program tells them when it connects. Their paths stay on the machine.</p>
            </Empty>
          ) : (
            <ul aria-label="Folders" className="border-t border-line">
              {items.map((binding) => (
                <Row key={binding.id} binding={binding} />
              ))}
            </ul>
          )
        }
      </Shown>
      <ShowMore list={bindings} />
    </Section>
  );
}

function Row({ binding: { id, name, branch, isGit, workspaceModes, removed } }: { binding: Binding }) {
  return (
    <li className="row flex-wrap gap-y-0 py-1.5">
      <span className="min-w-0 flex-[1_1_220px]">
        <span className="long block font-bold">
          <Plain text={name} />
        </span>
        <span className="long block text-12 text-ink-3">
          {removed ? 'not offered any more' : workspaceModes.join(', ')}
          {isGit && branch !== null && (
            <>
              {' · on '}
              <Plain text={branch} />
            </>
          )}
        </span>
      </span>
      <Id value={id} />
    </li>
  );
}
