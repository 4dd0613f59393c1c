/** The service's rule for a new password. */
const SHORTEST = 12;
const LONGEST = 200;

export const RULE = `${SHORTEST} to ${LONGEST} characters`;

/** Null if it keeps to the rule. */
export function passwordFault(password: string): string | null {
  // As the service counts.
  const { length } = [...password];
  return length >= SHORTEST && length <= LONGEST ? null : `It has ${length} characters: it takes ${RULE}.`;
}
