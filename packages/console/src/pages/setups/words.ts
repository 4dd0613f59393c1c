/** What to do about a failed setup. */
const REMEDIES: Record<string, string> = {
  command_failed:
    'The last lines of the log say why. Correct the command in the settings, or one of the files that it needs: either makes another setup, at once.',
  timed_out: 'Give it a longer time limit in the settings, up to 600 seconds, or let the command do less.',
  layer_too_large: 'A layer has at most 2 GiB and 200,000 entries. Let the command leave less.',
  sandbox_lost: 'Nothing was wrong with the command itself. Try again.',
};

export const remedyOf = (code: string): string => REMEDIES[code] ?? code;
