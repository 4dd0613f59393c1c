/** The command line is wrong: printed together with the help, exit code 2. */
export class UsageError extends Error {}
