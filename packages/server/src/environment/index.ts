export { deleteOrganizationVariables, deleteProjectVariables, sealedVariables } from './store.ts';
