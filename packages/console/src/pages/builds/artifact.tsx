/** What a build made: download, its files, and what differs from another build. */
import type { Build } from '@headrace/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { buildsOfQuery } from '../../api/projects-queries.ts';
import { manifestQuery } from '../../api/queries.ts';
import { itemsOf } from '../../api/query.ts';
import { Select } from '../../ui/fields.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { CopyButton, relative, useNow } from '../../ui/values.tsx';
import { isActive } from './build-actions.tsx';
import { CompareView } from './compare-view.tsx';
import { ManifestView } from './manifest-view.tsx';

const route = getRouteApi('/signed-in/apps/$appId/builds/$buildId');
const NONE = 'none';

export function Artifact({ build }: { build: Build }) {
  const { id: buildId, projectId: appId, status, artifactSha256 } = build;
  const { compare } = route.useSearch();
  const isReady = status === 'ready';
  const manifest = useQuery({ ...manifestQuery(appId, buildId), enabled: isReady });
  if (!isReady)
    return (
      <Empty title={isActive(build) ? 'No files yet' : 'This build kept no files'}>
        <p>
          {isActive(build)
            ? 'They appear when the build is ready.'
            : 'Only a build that succeeds keeps its output.'}
        </p>
      </Empty>
    );
  return (
    <div>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2 border-b border-line px-4 py-2">
        <CompareSelect build={build} />
        <span className="ml-auto flex items-center gap-2">
          {artifactSha256 && (
            <span className="flex items-center font-mono text-mono text-ink-3">
              SHA-256 {artifactSha256.slice(0, 12)}…
              <CopyButton text={artifactSha256} label="Copy the artifact’s SHA-256" />
            </span>
          )}
          <a
            className="button"
            data-kind="plain"
            href={`/api/projects/${appId}/builds/${buildId}/artifact`}
            download={`${buildId}.tar.gz`}
          >
            <Download size={14} aria-hidden />
            Download
          </a>
        </span>
      </div>
      <Shown query={manifest}>
        {(now) =>
          compare ? (
            <CompareView appId={appId} otherId={compare} now={now} />
          ) : (
            <ManifestView files={now.files} />
          )
        }
      </Shown>
    </div>
  );
}

function CompareSelect({ build }: { build: Build }) {
  const { compare } = route.useSearch();
  const navigate = route.useNavigate();
  const builds = useInfiniteQuery(buildsOfQuery(build.projectId, { status: 'ready' }));
  const now = useNow();
  const others = itemsOf(builds.data).filter(({ id }) => id !== build.id);
  const choices = [
    { id: NONE, text: 'No other build' },
    ...(compare && !others.some(({ id }) => id === compare)
      ? [{ id: compare, text: `bld_…${compare.slice(-6)}` }]
      : []),
    ...others.map(({ id, command, createdAt }) => ({
      id,
      text: `…${id.slice(-6)}, ${relative(createdAt, now)}: ${command}`.slice(0, 48),
    })),
  ];
  return (
    <Select
      label="Compare with"
      choices={choices}
      value={compare ?? NONE}
      onChange={(id) =>
        void navigate({
          search: (search) => ({ ...search, compare: id === NONE ? undefined : id }),
          replace: true,
        })
      }
    />
  );
}
