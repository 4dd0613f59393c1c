export { levelOfApp, levelOfOrganization, lockOrganizationLevel } from './policy.ts';
export type { Level } from './policy.ts';
export { variablesOf } from './of-project.ts';
export { deleteOrganizationVariables, deleteProjectVariables, sealedVariables } from './store.ts';
