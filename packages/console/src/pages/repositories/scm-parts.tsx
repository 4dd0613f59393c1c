/** Small parts that the pages of source control share. */
import { isCode } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Plain } from '../../code/plain.tsx';
import { OutsideLink } from '../../ui/outside-link.tsx';
import { Empty, Failure, Shown } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { isHostAway } from '../../api/faults.ts';
import { inWords, LOOK_OF, providerName, shortSha } from './words.ts';

export const State = ({ state }: { state: string }) => (
  <Status status={LOOK_OF[state] ?? state} word={state} />
);

/** A text to copy: a command, an address, a secret. */
export function Copied({ label, text }: { label: string; text: string }) {
  return (
    <div className="min-w-0">
      <div className="flex items-center justify-between">
        <span className="label">{label}</span>
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
      <pre
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto rounded bg-sunk p-2 font-mono text-mono"
      >
        <Plain text={text} />
      </pre>
    </div>
  );
}

export const Sha = ({ sha, copy = true }: { sha: string; copy?: boolean }) => (
  <span className="-my-1 inline-flex items-center font-mono text-mono text-ink-2">
    <span title={sha}>{shortSha(sha)}</span>
    {copy && <CopyButton text={sha} label={`Copy ${sha}`} />}
  </span>
);

/** A small word beside a name. */
export const Mark = ({ children }: { children: ReactNode }) => (
  <span className="shrink-0 rounded border border-line px-1 text-11 text-ink-3">{children}</span>
);

const isOfHost = (error: unknown): boolean =>
  isCode(error, 'scm_access_denied') || isCode(error, 'scm_repository_gone') || isHostAway(error);

/** As `Shown`; a refusal of the host says what it lacks and where to mend it. */
export function FromHost<T>({
  query,
  installationId,
  skeleton,
  children,
}: {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  installationId: string | undefined;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data === undefined && isOfHost(query.error))
    return (
      <>
        <Failure error={inWords(query.error)} retry={() => void query.refetch()} />
        {installationId && (
          <p className="px-4 pb-4">
            <Link
              to="/organization/installations/$installationId"
              params={{ installationId }}
              className="link"
            >
              The installation
            </Link>
          </p>
        )}
      </>
    );
  return (
    <Shown query={query} {...(skeleton !== undefined && { skeleton })}>
      {children}
    </Shown>
  );
}

/** What another host does on its own pages. */
export const AtHost = ({ href, provider }: { href: string; provider: string }) => (
  <Empty title={`Reviewed at ${providerName(provider)}`}>
    <p>
      Pull requests of this repository are opened, reviewed and merged there. Those of threads are in their
      projects, with their checks and their review loop.
    </p>
    <OutsideLink href={href} text={`Its pull requests at ${providerName(provider)}`} />
  </Empty>
);
