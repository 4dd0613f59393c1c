import type { ModelKey } from '@headrace/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

interface Actions {
  onSet: (provider: string) => void;
  onDelete: (provider: string) => void;
}

/** Which providers have a key of the organization. */
export function KeyList({
  query,
  actions,
}: {
  query: UseQueryResult<{ items: ModelKey[] }>;
  /** Null: the user may not change them. */
  actions: Actions | null;
}) {
  return (
    <Shown query={query} skeleton={<Skeleton lines={1} />}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No keys yet">
            <p>
              Without a provider’s key, runs with its models fail with <code>not_configured</code>. Only the
              built-in <code>scripted</code> and providers that need no key work.
            </p>
            {actions ? (
              <Button onPress={() => actions.onSet('anthropic')}>Set the key of anthropic</Button>
            ) : (
              <p>An owner or admin sets keys.</p>
            )}
          </Empty>
        ) : (
          <ul aria-label="Provider keys" className="border-t border-line">
            {items.map(({ provider, createdAt, updatedAt }) => (
              <li key={provider} className="row flex-wrap gap-y-0">
                <span className="long min-w-0 flex-1 basis-40">
                  <span className="font-mono text-mono">{provider}</span>{' '}
                  <span className="text-ink-3">set, never shown</span>
                </span>
                <span className="text-12 text-ink-3">
                  {updatedAt === createdAt ? 'set' : 'replaced'} <Time at={updatedAt} />
                </span>
                {actions && (
                  <span className="flex max-sm:-ml-2.5 max-sm:basis-full sm:-mr-2.5 sm:w-40 sm:justify-end">
                    <Button
                      kind="quiet"
                      data-row
                      aria-label={`Replace the key of ${provider}`}
                      onPress={() => actions.onSet(provider)}
                    >
                      Replace
                    </Button>
                    <Button
                      kind="quiet"
                      aria-label={`Delete the key of ${provider}`}
                      onPress={() => actions.onDelete(provider)}
                    >
                      Delete
                    </Button>
                  </span>
                )}
              </li>
            ))}
          </ul>
        )
      }
    </Shown>
  );
}
