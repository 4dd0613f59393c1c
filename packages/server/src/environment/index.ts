export { variablesOf, variableTargetsOf } from './of-project.ts';
export { deleteOrganizationVariables, deleteProjectVariables, sealedVariables } from './store.ts';
