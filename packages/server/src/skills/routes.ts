import { directRoute, projectRoute } from '../http/operation.ts';
import type { Route } from '../http/operation.ts';
import { deleteAppSkill } from './delete-app-skill.ts';
import { deleteOrganizationSkill } from './delete-organization-skill.ts';
import { getAppSkill } from './get-app-skill.ts';
import { getAppSkillArchive } from './get-app-skill-archive.ts';
import { getOrganizationSkill } from './get-organization-skill.ts';
import { getOrganizationSkillArchive } from './get-organization-skill-archive.ts';
import { listAppSkills } from './list-app-skills.ts';
import { listOrganizationSkills } from './list-organization-skills.ts';
import { setAppSkill } from './set-app-skill.ts';
import { setOrganizationSkill } from './set-organization-skill.ts';

export const routes: Route[] = [
  ...projectRoute('GET', '/apps/:appId/skills', listAppSkills),
  ...projectRoute('GET', '/apps/:appId/skills/:name', getAppSkill),
  ...projectRoute('GET', '/apps/:appId/skills/:name/archive', getAppSkillArchive),
  ...projectRoute('PUT', '/apps/:appId/skills/:name', setAppSkill),
  ...projectRoute('DELETE', '/apps/:appId/skills/:name', deleteAppSkill),
  directRoute('GET', '/skills', listOrganizationSkills),
  directRoute('GET', '/skills/:name', getOrganizationSkill),
  directRoute('GET', '/skills/:name/archive', getOrganizationSkillArchive),
  directRoute('PUT', '/skills/:name', setOrganizationSkill),
  directRoute('DELETE', '/skills/:name', deleteOrganizationSkill),
];
