/** The purpose for which hook secrets are sealed. */
export const PURPOSE = 'headrace automations';
