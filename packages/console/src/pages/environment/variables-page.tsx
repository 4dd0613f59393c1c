/** Environment variables and secrets: what an app's sandboxes get, and what all of the organization's do. */
import type { Variable } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { organizationVariablesQuery, variablesQuery } from '../../api/queries.ts';
import { useAppWord } from '../../api/app-word.ts';
import { useIsAdmin, useMay } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { DeleteVariable } from './delete-variable.tsx';
import { ImportVariables } from './import-variables.tsx';
import { levelOfApp, ORGANIZATION } from './level.ts';
import type { Level } from './level.ts';
import { VariableForm } from './variable-form.tsx';
import { VariableList } from './variable-list.tsx';

const route = getRouteApi('/signed-in/apps/$appId/environment');
const NONE: Variable[] = [];

/** Of one app: its own, and the organization's that hold in it. */
export function AppVariablesPage() {
  const { appId } = route.useParams();
  const isAdmin = useIsAdmin();
  const word = useAppWord();
  const mayChange = useMay('project:update');
  const variables = useQuery(variablesQuery(appId));
  // Only owners and admins may read them: others are not told what is hidden.
  const organization = useQuery({ ...organizationVariablesQuery(), enabled: isAdmin });
  return (
    <Variables
      key={appId}
      title="Variables"
      level={levelOfApp(appId, word)}
      query={variables}
      organization={organization.data?.items ?? NONE}
      mayChange={mayChange}
    >
      What the {word}’s sandboxes have in their environment. A variable of the {word} hides the organization’s
      of its name.{' '}
      {isAdmin ? (
        <Link to="/organization/environment" className="link">
          The organization’s variables
        </Link>
      ) : (
        'Owners and admins set the organization’s.'
      )}
    </Variables>
  );
}

/** Of all apps. */
export function OrganizationVariablesPage() {
  const variables = useQuery(organizationVariablesQuery());
  return (
    <Variables
      title="Variables of the organization"
      level={ORGANIZATION}
      query={variables}
      organization={NONE}
      mayChange={variables.data !== undefined}
    >
      The sandboxes of every app and project have them, unless it sets a variable of the same name.
    </Variables>
  );
}

type Over = { is: 'set'; name: string | undefined } | { is: 'delete'; variable: Variable } | { is: 'import' };

function Variables({
  title,
  level,
  query,
  organization,
  mayChange,
  children,
}: {
  title: string;
  level: Level;
  query: UseQueryResult<{ items: Variable[] }>;
  organization: readonly Variable[];
  mayChange: boolean;
  children: ReactNode;
}) {
  const [over, setOver] = useState<Over | null>(null);
  const [isHeld, setHeld] = useState(false);
  const close = () => setOver(null);
  const add = () => setOver({ is: 'set', name: undefined });
  useKeys(mayChange ? [{ keys: 'n', does: 'New variable', run: add }] : []);
  const all = query.data?.items ?? NONE;
  const own = all.filter((variable) => level.appId === null || variable.level === 'app');
  const heading =
    over?.is === 'import'
      ? 'Import variables'
      : over?.is === 'delete'
        ? `Delete ${over.variable.name}`
        : over?.name === undefined
          ? 'New variable'
          : own.some(({ name }) => name === over.name)
            ? `Change ${over.name}`
            : `Set ${over.name} in ${level.name}`;
  return (
    <Page
      title={title}
      actions={
        mayChange && (
          <>
            <Button onPress={() => setOver({ is: 'import' })}>Import</Button>
            <Button kind="primary" onPress={add}>
              New variable
            </Button>
          </>
        )
      }
    >
      <p className="max-w-[72ch] px-4 pb-3 text-ink-2">{children}</p>
      <Shown query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No variables yet">
              <p>
                Settings and credentials belong here, not into files: agents are told the names, and the
                values stand only in the environment of the sandboxes that you choose.
              </p>
              {mayChange && <Button onPress={add}>Set the first variable</Button>}
            </Empty>
          ) : (
            <VariableList
              level={level}
              variables={items}
              hidden={new Set(organization.map(({ name }) => name))}
              actions={
                mayChange
                  ? {
                      onSet: (name) => setOver({ is: 'set', name }),
                      onDelete: (variable) => setOver({ is: 'delete', variable }),
                    }
                  : null
              }
            />
          )
        }
      </Shown>
      <Dialog title={heading} isOpen={over !== null} isHeld={isHeld} onClose={close}>
        {over?.is === 'set' && <VariableForm level={level} own={own} name={over.name} onClose={close} />}
        {over?.is === 'import' && (
          <ImportVariables level={level} own={own} onSending={setHeld} onClose={close} />
        )}
        {over?.is === 'delete' && (
          <DeleteVariable
            level={level}
            variable={over.variable}
            bared={organization.find(({ name }) => name === over.variable.name)}
            onClose={close}
          />
        )}
      </Dialog>
    </Page>
  );
}
