/**
 * The parts of a call's messages that are not text. Text has at most a token per byte, with any tokenizer;
 * images are counted apart. What has no bound in the body is refused: ids of stored files, addresses that
 * the provider would fetch (also a way out of the sandbox), recordings, tools that the provider would run,
 * and documents where a limit holds.
 */
import { GatewayError } from './wire-errors.ts';
import { isObject } from './body.ts';
import { areOwnTools } from './tools.ts';

export interface Content {
  images: number;
  /** Characters of base64 that the images take in the body. */
  imageBytes: number;
  hasDocuments: boolean;
}

const DEEPEST = 12;
const refuse = (what: string): never => {
  throw new GatewayError(400, `${what} The model gateway passes on no such input.`);
};

/** Looks through messages, input items and instructions. Throws a GatewayError of 400. */
export function lookThrough(...roots: unknown[]): Content {
  const content: Content = { images: 0, imageBytes: 0, hasDocuments: false };
  for (const root of roots) visit(root, content, 0);
  return content;
}

function visit(value: unknown, content: Content, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEEPEST) refuse('The messages are nested too deeply.');
  if (Array.isArray(value)) {
    for (const one of value) visit(one, content, depth + 1);
    return;
  }
  const part = value as Record<string, unknown>;
  judge(part, content);
  // A tool's input and answer may be any JSON: their text counts, and nothing in them is fetched.
  visit(part.content, content, depth + 1);
  visit(part.output, content, depth + 1);
  if (isObject(part.source)) visit(part.source.content, content, depth + 1);
}

function judge(part: Record<string, unknown>, content: Content): void {
  switch (part.type) {
    case 'item_reference':
      return refuse(
        'An item_reference names what the provider stored: send the item itself, with store: false.',
      );
    case 'input_audio':
    case 'audio':
    case 'input_video':
    case 'video_url':
      return refuse(`${part.type} is a recording.`);
    case 'tool_search_output':
    case 'additional_tools':
      return Array.isArray(part.tools) && !areOwnTools(part.tools)
        ? refuse(`${part.type} holds a tool of the provider.`)
        : undefined;
    case 'container_upload':
      return refuse('container_upload needs a container of the provider.');
    case 'image':
      return imageSource(part, content);
    case 'document':
      return documentSource(part, content);
    case 'image_url':
      return image(isObject(part.image_url) ? part.image_url.url : part.image_url, content);
    case 'input_image':
    case 'computer_screenshot':
      if (part.file_id !== undefined && part.file_id !== null) refuse('file_id names a stored file.');
      return image(part.image_url, content);
    case 'file':
    case 'input_file':
      return file(isObject(part.file) ? part.file : part, content);
  }
}

function imageSource({ source }: Record<string, unknown>, content: Content): void {
  if (isObject(source)) counted(inBody(source).data, content);
}

function documentSource({ source }: Record<string, unknown>, content: Content): void {
  if (isObject(source) && inBody(source).type === 'base64') content.hasDocuments = true;
}

/** Anthropic's `source`, whose bytes have to be in the body. */
function inBody(source: Record<string, unknown>): Record<string, unknown> {
  if (source.type === 'url' || source.type === 'file')
    refuse(`A source of type ${source.type} is not in the body: send its bytes.`);
  return source;
}

function image(url: unknown, content: Content): void {
  if (typeof url !== 'string' || !/^data:/i.test(url))
    refuse('An image by its address is not in the body: send a data: URL.');
  counted(url, content);
}

function file(part: Record<string, unknown>, content: Content): void {
  if ((part.file_id ?? null) !== null || (part.file_url ?? null) !== null)
    refuse('A file by its id or address is not in the body: send its bytes.');
  content.hasDocuments = true;
}

function counted(data: unknown, content: Content): void {
  content.images++;
  if (typeof data === 'string') content.imageBytes += data.length;
}
