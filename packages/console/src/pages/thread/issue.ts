/** The error tracker's issue of a thread, if it is one: the API leaves open what it has. */
export function issueOf(issue: Record<string, unknown> | null): { name: string; url: string } | null {
  if (issue === null || typeof issue.url !== 'string') return null;
  const name = [issue.shortId, issue.title, issue.issueId].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return { name: typeof name === 'string' ? name : issue.url, url: issue.url };
}
