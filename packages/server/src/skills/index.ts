export { contextNow, contextTar, toldOf } from './context.ts';
export { deleteOrganizationSkills, deleteProjectSkills } from './store.ts';
