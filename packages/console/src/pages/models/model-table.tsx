import type { Model } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { pricedModelsQuery } from '../../api/hooks-queries.ts';
import { organizationSettingsQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { useIsAdmin } from '../../api/session.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Find } from '../../ui/find.tsx';
import { Section } from '../../ui/page.tsx';
import { ShowMore } from '../../ui/show-more.tsx';
import { Empty, Shown, Skeleton } from '../../ui/states.tsx';
import { CopyButton } from '../../ui/values.tsx';
import { DefaultModel } from './default-model.tsx';

const route = getRouteApi('/signed-in/organization/models');

/** Works without a model, and is the default where no other is set. */
const SCRIPTED = 'scripted';

/** As exact as providers say it. */
const PRICE = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

export function ModelTable() {
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const isAdmin = useIsAdmin();
  const models = useInfiniteQuery(pricedModelsQuery());
  // Only owners and admins may read them.
  const settings = useQuery({ ...organizationSettingsQuery(), enabled: isAdmin });
  const [isChanging, setChanging] = useState(false);
  const items = itemsOf(models.data);
  const shown = items.filter(({ id }) => id.toLowerCase().includes(find.toLowerCase()));
  const chosen = settings.data ? (settings.data.modelId ?? SCRIPTED) : null;
  const isKeyless =
    chosen !== null &&
    models.data !== undefined &&
    !models.hasNextPage &&
    !items.some(({ provider, id }) => id === chosen || provider === chosen.split('/')[0]);
  return (
    <Section
      title="Models"
      actions={
        <>
          {settings.data && <Button onPress={() => setChanging(true)}>Change the default</Button>}
          <Find
            label="Find a model"
            placeholder="Find a model"
            value={find}
            onChange={(text) =>
              void navigate({ search: text ? { find: text } : {}, replace: true, resetScroll: false })
            }
          />
        </>
      }
    >
      {isAdmin && (
        <p className="long px-4 pb-2 text-ink-2">
          Default: <span className="font-mono text-mono text-ink">{chosen ?? '…'}</span>. An app, a thread or
          a message may name another.
          {isKeyless && (
            <span className="block text-wait">
              Its provider has no key: runs with it fail with <code>not_configured</code>.
            </span>
          )}
        </p>
      )}
      <Shown query={models} skeleton={<Skeleton lines={16} />}>
        {() => (
          <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Models and prices">
            <table className="table border-t border-line">
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col" className="max-sm:hidden">
                    Provider
                  </th>
                  <th scope="col" className="text-right!">
                    Input
                  </th>
                  <th scope="col" className="text-right!">
                    Output
                  </th>
                  <th scope="col" className="text-right! max-sm:hidden">
                    Cached input
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((model) => (
                  <Row key={model.id} model={model} isDefault={model.id === chosen} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Shown>
      {items.length > 0 && shown.length === 0 && (
        <Empty title="No such model in the list">
          <p>Other models of a provider with a key work, too: name them as provider/model.</p>
        </Empty>
      )}
      <p className="px-4 py-2 text-12 text-ink-3">
        Prices are for a million tokens. A model without a known price does not run under a spend limit.
      </p>
      <ShowMore list={models} />
      <Dialog title="Default model" isOpen={isChanging} onClose={() => setChanging(false)}>
        {settings.data && (
          <DefaultModel
            now={settings.data.modelId}
            known={items.map(({ id }) => id).filter((id) => !id.endsWith('/*'))}
            onClose={() => setChanging(false)}
          />
        )}
      </Dialog>
    </Section>
  );
}

function Row({ model: { id, provider, prices }, isDefault }: { model: Model; isDefault: boolean }) {
  const isRest = id.endsWith('/*');
  const price = (micros: number) => <span className="tabular-nums">{PRICE.format(micros / 1e6)}</span>;
  return (
    <tr>
      <td className="long">
        <span className="flex items-center gap-1">
          <span className="long font-mono text-mono">
            <Plain text={id} />
          </span>
          {!isRest && <CopyButton text={id} label={`Copy ${id}`} />}
          {isDefault && <span className="rounded bg-water-wash px-1.5 text-11 text-water">default</span>}
        </span>
        {isRest && <span className="block text-12 text-ink-3">every other model of the provider</span>}
        {id === SCRIPTED && (
          <span className="block text-12 text-ink-3">no model: does what the message’s code blocks say</span>
        )}
      </td>
      <td className="text-ink-2 max-sm:hidden">{provider}</td>
      {prices ? (
        <>
          <td className="text-right">{price(prices.inputMicros)}</td>
          <td className="text-right">{price(prices.outputMicros)}</td>
          <td className="text-right max-sm:hidden">{price(prices.cachedMicros)}</td>
        </>
      ) : (
        <>
          <td colSpan={2} className="text-right text-ink-3">
            not known
          </td>
          <td className="max-sm:hidden" />
        </>
      )}
    </tr>
  );
}
