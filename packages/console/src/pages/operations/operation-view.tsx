/** A receipt: what was asked, what was answered, and where that is. */
import type { Operation } from '@headrace/client';
import { kindOf, SubjectLink } from '../../app/subject-link.tsx';
import { Json } from '../../app/json.tsx';
import { Plain } from '../../code/index.ts';
import { AsCode, quoted } from '../../ui/as-code.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { CopyButton, Id, Time, Took } from '../../ui/values.tsx';
import { namedIn } from './named-in.ts';

/** What each status means for who sent the write. */
const MEANINGS: Record<string, string> = {
  pending:
    'The write has begun and has no answer yet. The same request with the same key is refused as in progress until it has one.',
  succeeded: 'The write is done. The same request with the same key gets this answer again.',
  failed:
    'The write was refused. The same request with the same key gets this answer again: mend the request, and send it with a new key.',
  uncertain:
    'Nobody knows whether the effect outside of this service happened. The service looks again, at least every five minutes, and the same request is refused as in progress meanwhile. Look at the other side before you ask again with a new key: the effect could happen twice.',
};

export function OperationView({ operation }: { operation: Operation }) {
  const { id, idempotencyKey, method, path, projectId, status, responseStatus, response } = operation;
  const { createdAt, settledAt, reservedUntil } = operation;
  const named = namedIn(operation);
  return (
    <>
      <Facts>
        <Fact name="Status">
          <div className="flex flex-col gap-1">
            <Status status={status} />
            <p className="max-w-[72ch] text-ink-2">
              {status === 'failed' && reservedUntil === null
                ? 'The write was refused, and its key is free: mend the request, and send it again.'
                : (MEANINGS[status] ?? 'This console does not know this status.')}
            </p>
          </div>
        </Fact>
        <Fact name="Request">
          <code className="long font-mono text-mono">
            {method} <Plain text={path} />
          </code>
        </Fact>
        <Fact name="Key">
          <code className="long font-mono text-mono">{idempotencyKey}</code>
          <CopyButton text={idempotencyKey} label="Copy the key" />
        </Fact>
        <Fact name="Operation">
          <Id value={id} />
          <AsCode
            method="GET"
            path={`/api/operations/${id}`}
            ts={`await client.operations.get('${id}');`}
            cli={`headrace op ${quoted(idempotencyKey)}`}
          />
        </Fact>
        <Fact name="Project">
          {projectId === null ? 'none' : <SubjectLink subject={{ id: projectId }} />}
        </Fact>
        <Fact name="Answer">{responseStatus ?? <span className="text-ink-3">none yet</span>}</Fact>
        <Fact name="Created">
          <Time at={createdAt} />
        </Fact>
        <Fact name="Settled">
          {settledAt === null ? (
            <span className="text-ink-3">not yet</span>
          ) : (
            <span>
              <Time at={settledAt} />, after <Took from={createdAt} to={settledAt} />
            </span>
          )}
        </Fact>
        <Fact name="Key is free">
          {reservedUntil === null ? (
            <span className="text-ink-3">{settledAt === null ? 'not while the write goes on' : 'now'}</span>
          ) : (
            <Time at={reservedUntil} />
          )}
        </Fact>
      </Facts>
      {named.length > 0 && (
        <Section title="Named in the answer">
          <ul className="flex flex-wrap gap-x-6 gap-y-1 px-4 pb-3">
            {named.map((subject) => (
              <li key={subject.id} className="flex items-center gap-1.5">
                {kindOf(subject.id)} <SubjectLink subject={subject} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Stored answer">
        <div className="px-4 pb-6">
          {response === null ? (
            <p className="text-ink-2">No answer is stored{status === 'pending' ? ' yet' : ''}.</p>
          ) : (
            <Json label="The stored answer" value={response} />
          )}
        </div>
      </Section>
    </>
  );
}
