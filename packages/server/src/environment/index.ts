export { variablesOf } from './of-project.ts';
export { deleteOrganizationVariables, deleteProjectVariables, sealedVariables } from './store.ts';
