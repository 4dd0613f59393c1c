import type { ModelMessage } from 'ai';

const OUTPUT_CHARACTERS = 1000,
  INPUT_CHARACTERS = 2000;

/**
 * The messages before `until` without their large tool outputs, inputs and images, which are most of a long
 * conversation.
 */
export function trim(messages: ModelMessage[], until: number): ModelMessage[] {
  return messages.map((message, i) => (i < until ? trimmed(message) : message));
}

function trimmed(message: ModelMessage): ModelMessage {
  if (message.role === 'tool')
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === 'tool-result' ? { ...part, output: shortOutput(part.output) } : part,
      ),
    };
  if (message.role === 'user' && typeof message.content !== 'string')
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === 'text'
          ? part
          : { type: 'text', text: '[an image was here; it was left out to save room]' },
      ),
    };
  if (message.role === 'assistant' && typeof message.content !== 'string')
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === 'tool-call' ? { ...part, input: shortInput(part.input) } : part,
      ),
    };
  return message;
}

type Output = Extract<
  Extract<ModelMessage, { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>['output'];

function shortOutput(output: Output): Output {
  if ((output.type !== 'text' && output.type !== 'error-text') || output.value.length <= OUTPUT_CHARACTERS)
    return output;
  return {
    ...output,
    value:
      `${output.value.slice(0, OUTPUT_CHARACTERS / 2)}\n[… the rest was left out to save room; call the ` +
      'tool again if you need it]',
  };
}

/** A call's input stays an object with the same fields. */
function shortInput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || JSON.stringify(input).length <= INPUT_CHARACTERS)
    return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > OUTPUT_CHARACTERS / 2
        ? `${value.slice(0, OUTPUT_CHARACTERS / 2)}[… left out to save room]`
        : value,
    ]),
  );
}
