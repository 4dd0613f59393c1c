/** Of all descriptions together; longer ones are cut alike. */
const CHARACTERS = 32_000;

interface Skill {
  name: string;
  description: string;
}

/** A line of a prompt for each skill, `- name: description`. */
export function skillLines(skills: readonly Skill[]): string[] {
  const all = skills.reduce((sum, { description }) => sum + description.length, 0);
  const most = all > CHARACTERS ? Math.floor(CHARACTERS / skills.length) : Infinity;
  return skills.map(({ name, description }) => {
    const line = description.replaceAll(/\s+/g, ' ');
    return `- ${name}: ${line.length > most ? `${cut(line, most)}…` : line}`;
  });
}

/** Without half a character at the end. */
const cut = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
