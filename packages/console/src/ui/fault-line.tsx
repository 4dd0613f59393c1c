import type { Fault } from '../api/faults.ts';

/** A refused write in words. What is wrong with single fields is said at the fields, if these are shown. */
export function FaultLine({ fault, isAtFields = true }: { fault: Fault | null; isAtFields?: boolean }) {
  if (!fault) return null;
  const text = isAtFields && fault.fields.length > 0 ? 'see the marked fields.' : fault.message;
  return (
    <p role="alert" className="long border-l-2 border-fail pl-3 text-fail">
      {fault.title}: {text}
      {fault.requestId && (
        <span className="block font-mono text-mono text-ink-3">request {fault.requestId}</span>
      )}
    </p>
  );
}
