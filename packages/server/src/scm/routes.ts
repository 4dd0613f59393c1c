import { directRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { createRepository } from './create-repository.ts';
import { getInstallation } from './get-installation.ts';
import { getRepository } from './get-repository.ts';
import { listInstallations } from './list-installations.ts';
import { listRepositories } from './list-repositories.ts';

const SCM = '/source-control/scm';
const REPOSITORY = `${SCM}/repositories/:repositoryId`;

export const routes: Route[] = [
  directRoute('GET', `${SCM}/installations`, listInstallations),
  directRoute('GET', `${SCM}/installations/:installationId`, getInstallation),
  directRoute('POST', `${SCM}/repositories`, createRepository),
  directRoute('GET', `${SCM}/repositories`, listRepositories),
  directRoute('GET', REPOSITORY, getRepository),
];
