import type { Installation } from '@headrace/client';
import { Link } from '@tanstack/react-router';
import { isFirstRead } from '../../api/repositories-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/values.tsx';
import { State } from './scm-parts.tsx';
import { providerName } from './words.ts';

const MANAGED: Record<string, string> = { service: 'built in', config: 'configuration file', api: '' };

/** The accounts of hosts, and what is hosted here. */
export function InstallationList({ installations }: { installations: readonly Installation[] }) {
  return (
    <ul aria-label="Installations" className="border-t border-line">
      {installations.map((installation) => (
        <li key={installation.id}>
          <Row installation={installation} />
        </li>
      ))}
    </ul>
  );
}

function Row({ installation }: { installation: Installation }) {
  const {
    id: installationId,
    name,
    provider,
    accountLogin,
    managedBy,
    status,
    error,
    syncedAt,
  } = installation;
  return (
    <Link
      to="/organization/installations/$installationId"
      params={{ installationId }}
      data-row
      className="row flex-wrap gap-y-0"
    >
      <span className="w-28 shrink-0">
        {isFirstRead(installation) ? <Status status="running" word="reading" /> : <State state={status} />}
      </span>
      <span className="min-w-0 flex-[1_1_200px]">
        <span className="block truncate font-bold">
          <Plain text={provider === 'local' ? 'Hosted by this service' : name} />
        </span>
        {error && (
          <span className="long line-clamp-2 text-12 text-fail">
            <Plain text={error.message} />
          </span>
        )}
      </span>
      <span className="flex flex-wrap items-center gap-x-4 text-ink-2 max-sm:basis-full max-sm:pl-31">
        <span className="truncate empty:hidden sm:w-44 sm:empty:block">
          {provider === 'local' ? (
            ''
          ) : (
            <>
              {providerName(provider)}
              {accountLogin !== null && (
                <>
                  {' '}
                  · <Plain text={accountLogin} />
                </>
              )}
            </>
          )}
        </span>
        <span className="text-ink-3 empty:hidden sm:w-32 sm:empty:block">
          {MANAGED[managedBy] ?? managedBy}
        </span>
        <span className="text-ink-3 sm:w-28 sm:text-right">
          {provider !== 'local' && syncedAt !== null && (
            <>
              read <Time at={syncedAt} />
            </>
          )}
        </span>
      </span>
    </Link>
  );
}
