import type { Fault } from '../api/faults.ts';

const NONE: readonly string[] = [];

/** A refused write in words. `at`: the fields, by their JSON pointers, that say themselves what is wrong with them. */
export function FaultLine({ fault, at = NONE }: { fault: Fault | null; at?: readonly string[] }) {
  if (!fault) return null;
  const { fields } = fault;
  const isSaid =
    fields.length > 0 && fields.every(({ path }) => at.some((field) => `${path}/`.startsWith(`${field}/`)));
  const text = isSaid ? 'see the marked fields.' : fault.message;
  return (
    <p role="alert" className="long border-l-2 border-fail pl-3 text-fail">
      {fault.title}: {text}
      {fault.requestId && (
        <span className="block font-mono text-mono text-ink-3">request {fault.requestId}</span>
      )}
    </p>
  );
}
