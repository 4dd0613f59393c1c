import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createInstallation } from './create-installation.ts';
import { createRepository } from './create-repository.ts';
import { deleteInstallation } from './delete-installation.ts';
import { getInstallation } from './get-installation.ts';
import { getRepository } from './get-repository.ts';
import { listInstallations } from './list-installations.ts';
import { listRepositories } from './list-repositories.ts';
import { receiveWebhook } from './receive-webhook.ts';
import { syncInstallation } from './sync-installation.ts';
import { updateInstallation } from './update-installation.ts';

const SCM = '/source-control/scm';
const REPOSITORY = `${SCM}/repositories/:repositoryId`;

export const routes: Route[] = [
  directRoute('GET', `${SCM}/installations`, listInstallations),
  directRoute('GET', `${SCM}/installations/:installationId`, getInstallation),
  directRoute('POST', `${SCM}/installations`, createInstallation),
  directRoute('PATCH', `${SCM}/installations/:installationId`, updateInstallation),
  directRoute('DELETE', `${SCM}/installations/:installationId`, deleteInstallation),
  directRoute('POST', `${SCM}/installations/:installationId/sync`, syncInstallation),
  directRoute('POST', `${SCM}/webhooks/:installationId`, receiveWebhook),
  directRoute('POST', `${SCM}/repositories`, createRepository),
  directRoute('GET', `${SCM}/repositories`, listRepositories),
  directRoute('GET', REPOSITORY, getRepository),
];
