import type { Automation, UpdateAutomationInput } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useWrite } from '../../api/write.ts';
import { notify } from '../../ui/notices.tsx';

/** Reads again what shows an automation. */
export function useReadAgain(automationId: string): () => Promise<unknown> {
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['automations'] }),
      queries.invalidateQueries({ queryKey: ['automation', automationId] }),
    ]);
}

/** Enables or disables it. */
export function useChange({ id, name }: Automation, onDone?: () => void) {
  const readAgain = useReadAgain(id);
  return useWrite({
    intent: `change automation ${id}`,
    call: (body: UpdateAutomationInput, options) => client.automations.update(id, body, options),
    onDone: ({ disabled }) => {
      notify(`${name} is ${disabled ? 'disabled' : 'enabled'}.`);
      onDone?.();
      void readAgain();
    },
  });
}
