/** What a project would get of a branch or commit, and what CI says of it. */
import { isCode } from '@headrace/client';
import type { Inspection, Repository } from '@headrace/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { inspectionQuery } from '../../api/repositories-queries.ts';
import { Plain } from '../../code/plain.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/fields.tsx';
import { Fact, Facts } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { bytes, plural } from '../../ui/values.tsx';
import { FromHost, Sha } from './scm-parts.tsx';
import { Statuses } from './statuses.tsx';
import { isHosted } from './words.ts';

const route = getRouteApi('/signed-in/organization/repositories/$repositoryId');

export function Inspect({ repository }: { repository: Repository }) {
  const { ref = repository.defaultBranch } = route.useSearch();
  const inspection = useQuery(inspectionQuery(repository.id, ref));
  const isUnknown =
    isCode(inspection.error, 'branch_not_found') || isCode(inspection.error, 'commit_not_found');
  return (
    <>
      <RefForm key={ref} initial={ref} defaultBranch={repository.defaultBranch} />
      {isUnknown ? (
        <Empty title="It has no such branch or commit">
          <p className="long">
            Nothing is called “<Plain text={ref} />
            ”. Give a branch’s whole name, or a commit’s whole id.
          </p>
        </Empty>
      ) : (
        <FromHost query={inspection} installationId={repository.installationId}>
          {(shown) => <Found inspection={shown} repository={repository} />}
        </FromHost>
      )}
    </>
  );
}

function RefForm({ initial, defaultBranch }: { initial: string; defaultBranch: string }) {
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(initial);
  return (
    <form
      className="flex flex-wrap items-end gap-2 px-4 pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        const ref = typed.trim();
        void navigate({ search: ref && ref !== defaultBranch ? { ref } : {}, resetScroll: false });
      }}
    >
      <div className="w-80 min-w-0 max-sm:w-full">
        <Field label="Branch, or whole commit id" mono value={typed} onChange={setTyped} maxLength={255} />
      </div>
      <Button type="submit">Look at it</Button>
    </form>
  );
}

function Found({ inspection, repository }: { inspection: Inspection; repository: Repository }) {
  const { commitSha, fileCount, byteSize, keptAsideCount, withinLimits, truncated, usesLfs, canPush } =
    inspection;
  if (commitSha === null)
    return (
      <Empty title="It is empty">
        <p>Push a first commit to it: the commands are below. A project can be made of it after that.</p>
      </Empty>
    );
  return (
    <>
      <Facts>
        <Fact name="Commit">
          <Sha sha={commitSha} />
        </Fact>
        <Fact name="Files">
          {truncated ? 'more than ' : ''}
          {plural(fileCount, 'file')}, {bytes(byteSize)}
        </Fact>
        <Fact name="For projects">
          {withinLimits ? (
            <Status status="ready" word="within the limits" />
          ) : (
            <Status status="failed" word="larger than a project can be" />
          )}
        </Fact>
        {keptAsideCount > 0 && (
          <Fact name="Kept aside">
            <span>
              {plural(keptAsideCount, 'entry', 'entries')} such as links and submodules: agents do not see
              them, and commits keep them as they are
            </span>
          </Fact>
        )}
        {usesLfs && (
          <Fact name="Git LFS">
            <span>in use: agents see the pointers, not the large files</span>
          </Fact>
        )}
        <Fact name="Pushing">
          {canPush ? (
            <Status status="ready" word="the service may push" />
          ) : (
            <Status status="blocked" word="the service may not push: pull requests will fail" />
          )}
        </Fact>
      </Facts>
      {isHosted(repository) && (
        <Statuses
          key={commitSha}
          repositoryId={repository.id}
          commitSha={commitSha}
          required={repository.requiredChecks}
        />
      )}
    </>
  );
}
