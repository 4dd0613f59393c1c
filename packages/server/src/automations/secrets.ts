/** What the secrets of hooks are sealed for. */
export const PURPOSE = 'headrace automations';
