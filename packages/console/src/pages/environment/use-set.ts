import type { SetAppVariableInput, Variable } from '@headrace/client';
import { useQueryClient } from '@tanstack/react-query';
import { useWrite } from '../../api/write.ts';
import type { Write } from '../../api/write.ts';
import type { Level } from './level.ts';

interface Named {
  name: string;
  body: SetAppVariableInput;
}

/** Sets a variable. What is sent outlives neither the form nor its answer. */
export function useSet(level: Level, onDone?: () => void): Write<Named, Variable> {
  const queries = useQueryClient();
  return useWrite({
    intent: `set a variable of ${level.appId ?? 'the organization'}`,
    isSecret: true,
    call: ({ name, body }: Named, options) => level.set(name, body, options),
    onDone: () => {
      void queries.invalidateQueries({ queryKey: level.queryKey });
      onDone?.();
    },
  });
}
