/** Issues and their comments, in any repository that the credential sees. */
import type { Provider } from '../provider.ts';
import { ask, placeOf } from './ask.ts';
import { isWithheld } from './checks.ts';
import { faultOf } from './faults.ts';
import { plainText } from './repositories.ts';
import { identityOf } from './identity.ts';

const PAGE = 100;
const MAX_PAGES = 20;

export const getIssue: Provider['getIssue'] = async (at, { fullName, number }) => {
  try {
    return await ask(at, async ({ octokit }) => {
      const { data } = await octokit.rest.issues.get({ ...placeOf(fullName), issue_number: number });
      return { title: plainText(data.title) };
    });
  } catch (error) {
    if (isWithheld(error) || faultOf(error).fault.code === 'not_found') return null;
    throw error;
  }
};

/** The newest are on the last pages, but GitHub lists an issue's comments only from the oldest on. */
export const findComment: Provider['findComment'] = (at, { fullName, number }, text) =>
  ask(at, async (connection) => {
    const { login } = await identityOf(connection);
    for (let page = 1; page <= MAX_PAGES; page++) {
      const { data } = await connection.octokit.rest.issues.listComments({
        ...placeOf(fullName),
        issue_number: number,
        per_page: PAGE,
        page,
      });
      if (data.some(({ body, user }) => user?.login === login && body?.includes(text))) return true;
      if (data.length < PAGE) return false;
    }
    return false;
  });

export const commentOnIssue: Provider['commentOnIssue'] = (at, { fullName, number }, body) =>
  ask(at, async ({ octokit }) => {
    await octokit.rest.issues.createComment({ ...placeOf(fullName), issue_number: number, body });
  });
