/** Models that threads may use, their prices, and the keys of their providers. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { modelKeysQuery } from '../../api/hooks-queries.ts';
import { useIsAdmin } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useKeys } from '../../ui/keys.ts';
import { Page, Section } from '../../ui/page.tsx';
import { DeleteKey, KeyForm } from './key-form.tsx';
import { KeyList } from './key-list.tsx';
import { ModelTable } from './model-table.tsx';
import { MoreModels } from './more-models.tsx';

type Over = { is: 'set'; provider: string | null } | { is: 'delete'; provider: string };

export function ModelsPage() {
  const isAdmin = useIsAdmin();
  const keys = useQuery(modelKeysQuery());
  const [over, setOver] = useState<Over | null>(null);
  const close = () => setOver(null);
  const add = () => setOver({ is: 'set', provider: null });
  useKeys(isAdmin ? [{ keys: 'n', does: 'Set a provider’s key', run: add }] : []);
  const isThere = (provider: string) => keys.data?.items.some((key) => key.provider === provider) ?? false;
  return (
    <Page
      title="Models"
      actions={
        isAdmin && (
          <Button kind="primary" onPress={add}>
            Set a key
          </Button>
        )
      }
    >
      <Section title="Provider keys">
        <KeyList
          query={keys}
          actions={
            isAdmin
              ? {
                  onSet: (provider) => setOver({ is: 'set', provider }),
                  onDelete: (provider) => setOver({ is: 'delete', provider }),
                }
              : null
          }
        />
      </Section>
      <ModelTable />
      <MoreModels />
      <Dialog
        title={
          over === null || over.provider === null
            ? 'Set a provider’s key'
            : over.is === 'delete'
              ? `Delete the key of ${over.provider}`
              : `Replace the key of ${over.provider}`
        }
        isOpen={over !== null}
        onClose={close}
      >
        {over?.is === 'set' && <KeyForm given={over.provider} isThere={isThere} onClose={close} />}
        {over?.is === 'delete' && <DeleteKey provider={over.provider} onClose={close} />}
      </Dialog>
    </Page>
  );
}
