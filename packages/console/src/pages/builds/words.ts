/** What to do about a failed build. */
const REMEDIES: Record<string, string> = {
  command_failed: 'The last lines of the log say why. Repeat it once the source or the command is mended.',
  timed_out: 'Give it a longer time limit, up to 600 seconds, or let the command do less.',
  output_missing: 'The command made no such directory. Check the output directory against what the log says.',
  output_invalid: 'An artifact has regular files only, with names that a source may have.',
  output_too_large: 'An artifact has at most 10,000 files and 64 MiB. Choose a smaller output directory.',
  cancelled: 'It was stopped on purpose, or with its thread. Repeat it to build again.',
  worker_lost: 'The machine that ran it is gone. Repeat it.',
  setup_failed: 'The setup failed, so this did not start. Its log says why: see the setups.',
};

export const remedyOf = (code: string): string | null => REMEDIES[code] ?? null;
