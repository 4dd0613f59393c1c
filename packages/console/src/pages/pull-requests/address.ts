/** Where a pull request is at its provider. */

const HOSTED = /^\/api\/source-control\/scm\/repositories\/([^/]+)\/pull-requests\/(\d+)$/;

/** Of a repository that the service hosts itself; the console has a page for its pull requests. */
export function hostedAt(url: string): { repositoryId: string; number: string } | null {
  const [, repositoryId, number] = HOSTED.exec(pathOf(url)) ?? [];
  return repositoryId !== undefined && number !== undefined ? { repositoryId, number } : null;
}

function pathOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed?.pathname ?? '';
}
