import type { FilePart, ModelMessage, TextPart } from 'ai';

interface Block {
  type?: unknown;
  text?: unknown;
  data?: unknown;
  mimeType?: unknown;
  uri?: unknown;
  name?: unknown;
  resource?: { text?: unknown; uri?: unknown };
}

/** A user message from ACP's content blocks, or from plain text. Undefined when it is empty. */
export function userMessage(prompt: unknown): Extract<ModelMessage, { role: 'user' }> | undefined {
  const blocks =
    typeof prompt === 'string'
      ? [{ type: 'text', text: prompt }]
      : Array.isArray(prompt)
        ? (prompt as Block[])
        : [];
  const parts = blocks.flatMap(partOf);
  if (parts.length === 0) return undefined;
  const isText = parts.every((part) => part.type === 'text');
  return { role: 'user', content: isText ? parts.map((part) => part.text).join('\n') : parts };
}

const said = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

function partOf(block: Block): (TextPart | FilePart)[] {
  if (typeof block !== 'object' || block === null) return [];
  const { type, text, data, mimeType, uri, name, resource } = block;
  if (type === 'text' && typeof text === 'string' && text !== '') return [{ type: 'text', text }];
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return [{ type: 'file', mediaType: mimeType, data }];
  if (type === 'resource' && typeof resource?.text === 'string')
    return [{ type: 'text', text: `${said(resource.uri, 'attachment')}:\n${resource.text}` }];
  if (type === 'resource_link') return [{ type: 'text', text: `[${said(name, 'link')}: ${said(uri, '')}]` }];
  return [];
}
