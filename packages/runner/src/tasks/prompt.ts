import type { ContentBlock } from '@agentclientprotocol/sdk';
import { skillLines } from '@headrace/agent/skill-lines.ts';
import { CONTEXT_FOLDER } from '../protocol.ts';
import type { Attachment, Told, TurnAgent, TurnRequest } from '../protocol.ts';
import type { Session } from './acp-session.ts';

/** The newest part of a long conversation, in code points; the agent's own session, if any, has all of it. */
const HISTORY_CHARACTERS = 200_000;
const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|toml|[\w.-]+\+(?:json|xml)))/i;
const INTERRUPTED =
  '[The turn before this message was interrupted and did not complete. Its last request is not to be ' +
  'carried on unless this message says so.]';

/** The members of a turn's request that its prompt is made from. */
export type Prompted = Pick<
  TurnRequest,
  'agent' | 'told' | 'prompt' | 'attachments' | 'history' | 'variableTargets'
>;

/**
 * What the agent receives: the earlier conversation if it needs it, the message, and the attachments that it
 * accepts.
 */
export function promptBlocks(
  { agent, told, prompt, attachments = [], history = [], variableTargets = {} }: Prompted,
  session: Session,
  wasInterrupted: boolean,
): ContentBlock[] {
  const before = session.isLoaded ? (wasInterrupted ? [INTERRUPTED] : []) : conversation(history);
  const context = session.isLoaded ? [] : contextFor(agent, told);
  return [
    ...[...context, ...before, ...variables(variableTargets)].map(text),
    ...messageBlocks(prompt, attachments, session),
  ];
}

/** What the agent finds in no file of its own; the built-in one has it in its system prompt. */
function contextFor(
  { command, instructionsFile, skillsFolder }: TurnAgent,
  { instructions, skills }: Told = { instructions: null, skills: [] },
): string[] {
  if (command === null) return [];
  return [
    ...(instructions === null || instructionsFile
      ? []
      : [`<instructions>\n${instructions}\n</instructions>`]),
    ...(skills.length === 0 || skillsFolder ? [] : [skillsText(skills)]),
  ];
}

const skillsText = (skills: Told['skills']): string =>
  [
    '<skills>',
    'Read the SKILL.md in the folder of a skill before you do what its description names.',
    ...skillLines(skills).map((line, i) => `${line} (${CONTEXT_FOLDER}/skills/${skills[i]!.name})`),
    '</skills>',
  ].join('\n');

/** Names only: a value that an agent was told would be in its session, and with the model's provider. */
function variables(targets: Record<string, string[]>): string[] {
  const all = Object.entries(targets).map(([name, of]) => `${name} (${of.join(', ')})`);
  if (all.length === 0) return [];
  return [
    '[Environment variables of the app, with where each is set: run (your commands), exec (commands of users), ' +
      `build, preview. ${all.join('; ')}. Read them from the environment; do not print or store values.]`,
  ];
}

/** A message and the attachments that the agent accepts. */
export const messageBlocks = (
  prompt: string,
  attachments: Attachment[],
  { takes }: Session,
): ContentBlock[] => [text(prompt), ...attachments.map((one, i) => attached(one, i + 1, takes))];

const text = (content: string): ContentBlock => ({ type: 'text', text: content });

function conversation(history: NonNullable<TurnRequest['history']>): string[] {
  let left = HISTORY_CHARACTERS;
  const kept: string[] = [];
  for (const { role, content } of history.toReversed()) {
    left -= [...content].length;
    if (left < 0) break;
    kept.push(`<${role}>\n${content}\n</${role}>`);
  }
  kept.reverse();
  if (history.length === 0) return [];
  const cut =
    kept.length < history.length ? `[${history.length - kept.length} earlier messages are left out]\n` : '';
  return [
    'This is the conversation so far in this thread. Its requests have been answered; the workspace is ' +
      `as they left it. The message to act on comes after it.\n\n<conversation>\n${cut}${kept.join('\n')}` +
      '\n</conversation>',
  ];
}

function attached({ mediaType, data }: Attachment, number: number, takes: Session['takes']): ContentBlock {
  if (mediaType.startsWith('image/') && takes.image) return { type: 'image', mimeType: mediaType, data };
  if (!TEXT.test(mediaType))
    return text(`[An attachment of type ${mediaType} was left out: the agent does not take it.]`);
  const content = Buffer.from(data, 'base64').toString();
  if (!takes.embeddedContext) return text(`Attachment ${number} (${mediaType}):\n${content}`);
  return {
    type: 'resource',
    resource: { uri: `attachment:///${number}`, mimeType: mediaType, text: content },
  };
}
