/** What changed since the base, on one side or on both. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { diffQuery } from '../../api/queries.ts';
import { Fact, Facts } from '../../ui/page.tsx';
import { Failure, Skeleton } from '../../ui/states.tsx';
import { Id, plural } from '../../ui/values.tsx';
import { countsOf } from './counts.ts';

export function ThreeWay({
  appId,
  base,
  head,
  draft,
}: {
  appId: string;
  base: string;
  head: string;
  draft: string;
}) {
  const ofHead = useQuery(diffQuery(appId, base, head));
  const ofDraft = useQuery(diffQuery(appId, base, draft));
  const error = ofHead.error ?? ofDraft.error;
  const counts = ofHead.data && ofDraft.data && countsOf(ofHead.data.files, ofDraft.data.files);
  return (
    <>
      <Facts>
        <Fact name="Base">
          <Source appId={appId} id={base} />
        </Fact>
        <Fact name="Head">
          <Source appId={appId} id={head} />
          {ofHead.data && <Changed appId={appId} from={base} to={head} count={ofHead.data.files.length} />}
        </Fact>
        <Fact name="Draft">
          <Source appId={appId} id={draft} />
          {ofDraft.data && <Changed appId={appId} from={base} to={draft} count={ofDraft.data.files.length} />}
        </Fact>
        {counts && (
          <>
            <Fact name="Only in the head">{plural(counts.head, 'path')}</Fact>
            <Fact name="Only in the draft">{plural(counts.draft, 'path')}</Fact>
            <Fact name="In both">{plural(counts.both, 'path')}</Fact>
          </>
        )}
      </Facts>
      {error && !counts ? (
        <Failure error={error} retry={() => void Promise.all([ofHead.refetch(), ofDraft.refetch()])} />
      ) : (
        !counts && <Skeleton lines={3} height={24} />
      )}
    </>
  );
}

function Source({ appId, id }: { appId: string; id: string }) {
  return (
    <>
      <Id value={id} />
      <Link to="/apps/$appId/sources/$sourceId" params={{ appId, sourceId: id }} className="link">
        files
      </Link>
    </>
  );
}

function Changed({ appId, from, to, count }: { appId: string; from: string; to: string; count: number }) {
  if (count === 0) return <span className="text-ink-3">as the base</span>;
  return (
    <Link to="/apps/$appId/diff" params={{ appId }} search={{ from, to }} className="link">
      {plural(count, 'file')} changed
    </Link>
  );
}
