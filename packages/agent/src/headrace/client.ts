import type {
  PermissionOption,
  RequestPermissionRequest,
  SessionNotification,
} from '@agentclientprotocol/sdk';

/** What the agent sends to its client and asks it, for one session. */
export interface Client {
  update(update: SessionNotification['update']): void;
  /** False when it was denied, or nobody could be asked. */
  isAllowed(toolCall: RequestPermissionRequest['toolCall']): Promise<boolean>;
}

export const PERMISSION_OPTIONS: PermissionOption[] = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject', name: 'Deny', kind: 'reject_once' },
];

/** Sends a turn's text, with a blank line between the texts of different steps. */
export class Speech {
  readonly #client: Client;
  /** The last two characters. */
  #said = '';
  #isNewStep = false;

  constructor(client: Client) {
    this.#client = client;
  }

  newStep(): void {
    this.#isNewStep = this.#said !== '';
  }

  text(text: string): void {
    if (text === '') return;
    const gap = this.#isNewStep
      ? '\n'.repeat(Math.max(0, 2 - (/\n{0,2}$/.exec(this.#said)?.[0].length ?? 0)))
      : '';
    this.#isNewStep = false;
    this.#said = (this.#said + text).slice(-2);
    this.#client.update({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: gap + text },
    });
  }

  thought(text: string): void {
    if (text !== '')
      this.#client.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } });
  }
}
