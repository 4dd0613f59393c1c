/** The files of a skill of that name, as a request has them. */
export const skillOf = (name: string, more: Record<string, string> = {}, description = 'Does a thing.') => ({
  files: Object.entries({
    'SKILL.md': `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`,
    ...more,
  }).map(([path, content]) => ({ path, content })),
});
