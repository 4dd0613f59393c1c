import type { Skill } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { READ_TIMEOUT_MS } from '../../api/client.ts';
import { Plain } from '../../code/plain.tsx';
import { Shown, Skeleton } from '../../ui/states.tsx';
import { Id } from '../../ui/values.tsx';
import { skillText } from './files.ts';
import type { Level } from './level.ts';

/** `SKILL.md` as it is, as text. */
export function ReadSkill({ level, skill: { id, name, sha256 } }: { level: Level; skill: Skill }) {
  const text = useQuery({
    queryKey: [...level.queryKey, 'text', name, sha256],
    queryFn: async ({ signal }) =>
      (await skillText(await level.archive(name, { signal, timeoutMs: READ_TIMEOUT_MS }))) ?? '',
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <Shown query={text} skeleton={<Skeleton lines={8} height={20} />}>
        {(shown) => (
          <pre
            tabIndex={0}
            aria-label="SKILL.md"
            className="long max-h-[60vh] overflow-auto rounded bg-sunk p-3 font-mono text-mono whitespace-pre-wrap"
          >
            <Plain text={shown} />
          </pre>
        )}
      </Shown>
      <Id value={id} />
    </>
  );
}
