import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Wire } from '../config-file.ts';
import { boundCall, cachingOf, mostInput } from './bounds.ts';
import { PRICE } from './gateway.fixture.ts';
import { shapeRequest } from './shape-request.ts';
import { readSse } from './sse-reader.ts';

const shape = (wire: Wire, body: Record<string, unknown>) => shapeRequest(wire, { model: 'm', ...body });
const message = (content: unknown) => ({ messages: [{ role: 'user', content }] });

describe('400', () => {
  test.each([
    [
      'openai-responses',
      { previous_response_id: 'resp_1' },
      /^previous_response_id: names what the provider stored/,
    ],
    ['openai-responses', { conversation: { id: 'conv_1' } }, /^conversation: /],
    ['openai-responses', { prompt: { id: 'pmpt_1' } }, /^prompt: /],
    ['openai-responses', { background: true }, /^background: /],
    ['openai-responses', { input: [{ type: 'item_reference', id: 'rs_1' }] }, /item_reference/],
    [
      'openai-responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
      /file/,
    ],
    [
      'openai-responses',
      {
        input: [
          {
            type: 'function_call_output',
            output: [{ type: 'input_image', image_url: 'https://example.com/x.png' }],
          },
        ],
      },
      /data: URL/,
    ],
    [
      'openai-responses',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
      /file_id/,
    ],
    [
      'openai-responses',
      {
        input: [
          {
            type: 'tool_search_output',
            tools: [
              { type: 'function', name: 'f' },
              { type: 'mcp', server_url: 'https://example.com' },
            ],
          },
        ],
      },
      /^tool_search_output holds a tool of the provider/,
    ],
    [
      'openai-responses',
      {
        input: [
          {
            type: 'tool_search_output',
            tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }],
          },
        ],
      },
      /^tool_search_output holds/,
    ],
    [
      'openai-chat',
      message([{ type: 'image_url', image_url: { url: 'http://169.254.169.254/' } }]),
      /data: URL/,
    ],
    ['openai-chat', message([{ type: 'input_audio', input_audio: {} }]), /recording/],
    ['openai-chat', { modalities: ['text', 'audio'] }, /^modalities/],
    ['openai-chat', { n: 0 }, /^n: /],
    ['openai-chat', { n: 1000 }, /^n: /],
    [
      'anthropic',
      message([{ type: 'image', source: { type: 'url', url: 'https://example.com' } }]),
      /source of type url/,
    ],
    [
      'anthropic',
      message([
        { type: 'tool_result', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] },
      ]),
      /source of type file/,
    ],
    ['anthropic', message([{ type: 'container_upload', file_id: 'file_1' }]), /container_upload/],
    [
      'anthropic',
      { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } },
      /^thinking.budget_tokens/,
    ],
  ] as const)('%s %j', (wire, body, words) => {
    expect(() => shape(wire, { ...body })).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(words) }),
    );
  });
});

describe('what is taken away', () => {
  test('hosted tools, and a choice of one of them', () => {
    const anthropic = shape('anthropic', {
      tools: [
        { name: 'sh', input_schema: {} },
        { type: 'custom', name: 'b' },
        { type: 'bash_20250124', name: 'bash' },
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { type: 'code_execution_20250825', name: 'code_execution' },
        { type: 'mcp_toolset' },
      ],
      tool_choice: { type: 'tool', name: 'web_search' },
      mcp_servers: [{ url: 'x' }],
      container: 'c',
      service_tier: 'auto',
      speed: 'fast',
      context_management: { edits: [{ type: 'compact_20260112' }, { type: 'clear_tool_uses_20250919' }] },
    });
    expect(anthropic.body).toEqual({
      model: 'm',
      tools: [
        { name: 'sh', input_schema: {} },
        { type: 'custom', name: 'b' },
        { type: 'bash_20250124', name: 'bash' },
      ],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    });
    expect(anthropic.ownTools).toBe(1);
    const responses = shape('openai-responses', {
      tools: [
        'web_search',
        'web_search_preview',
        'file_search',
        'code_interpreter',
        'image_generation',
        'computer_use_preview',
        'mcp',
        'function',
        'custom',
        'local_shell',
      ]
        .map((type) => ({ type, name: type }))
        .concat([{ type: 'shell', environment: { type: 'container_auto' } } as never]),
      tool_choice: { type: 'web_search' },
      store: true,
      service_tier: 'priority',
      context_management: [{ type: 'compaction', compact_threshold: 1000 }],
    });
    const found = [
      {
        type: 'tool_search_output',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
        ],
      },
    ];
    expect(shape('openai-responses', { input: found }).body.input).toEqual(found);
    expect(responses.body).toEqual({
      model: 'm',
      store: false,
      tools: [
        { type: 'function', name: 'function' },
        { type: 'custom', name: 'custom' },
        { type: 'local_shell', name: 'local_shell' },
      ],
    });
    expect(
      shape('openai-chat', {
        tools: [{ type: 'web_search' }],
        tool_choice: 'auto',
        web_search_options: {},
        prediction: {},
        store: true,
        plugins: [],
      }).body,
    ).toEqual({ model: 'm' });
    expect(
      shape('openai-chat', {
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
      }).body.tool_choice,
    ).toEqual({ type: 'function', function: { name: 'f' } });
  });

  test('usage is asked of streamed chats', () => {
    expect(
      shape('openai-chat', { stream: true, stream_options: { x: 1, include_usage: false } }).body
        .stream_options,
    ).toEqual({ x: 1, include_usage: true });
    expect(shape('openai-chat', { stream: false }).body).toEqual({ model: 'm' });
  });
});

describe('bounds', () => {
  const prices = { ...PRICE, cacheWriteMicros: 1_250_000, cacheWriteLongMicros: 2_000_000, tiers: [] };

  test('images count by their number, not by their bytes; each answer has its own output', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'x'.repeat(100_000) } };
    const shaped = shape('anthropic', {
      max_tokens: 10,
      ...message([
        image,
        { type: 'tool_result', content: [image] },
        { type: 'tool_use', input: { type: 'image', source: { type: 'url' } } },
      ]),
    });
    expect([
      shaped.images,
      mostInput(shaped, Buffer.byteLength(JSON.stringify(shaped.body))) < 2 * 5_000 + 2_000 + 600,
    ]).toEqual([2, true]);
    expect(
      boundCall(shape('openai-chat', { n: 3, max_tokens: 10 }), prices, {
        inputTokens: 100,
        caching: 'none',
        remaining: null,
      }),
    ).toMatchObject({ outputTokens: 30, micros: 100 + 60 });
  });

  test('input that may be cached has the dearest price of input', () => {
    const costs = (['none', 'short', 'long'] as const).map(
      (caching) =>
        boundCall(shape('anthropic', { max_tokens: 10 }), prices, {
          inputTokens: 100,
          caching,
          remaining: null,
        })!.micros,
    );
    expect(costs).toEqual([120, 145, 220]);
    const text = (ttl?: string) =>
      JSON.stringify(
        JSON.parse(
          `{"system":[{"cache\\u005fcontrol":{"type":"ephemeral"${ttl ? `,"ttl":"${ttl}"` : ''}}}]}`,
        ),
      );
    expect([
      cachingOf('anthropic', '{}'),
      cachingOf('anthropic', text()),
      cachingOf('anthropic', text('1h')),
      cachingOf('openai-chat', '{}'),
    ]).toEqual(['none', 'short', 'long', 'short']);
  });

  test('a call is never promised more than is left, and gets as much of it as it asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 0, max: 200_000 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 0, max: 50_000_000 }),
        fc.integer({ min: 0, max: 50_000_000 }),
        fc.integer({ min: 1, max: 4 }),
        (asked, input, remaining, inputMicros, outputMicros, n) => {
          const shaped = shape('openai-chat', { max_tokens: asked, n });
          const rates = {
            ...prices,
            inputMicros,
            outputMicros,
            cachedMicros: 0,
            cacheWriteMicros: 0,
            cacheWriteLongMicros: 0,
          };
          const bound = boundCall(shaped, rates, { inputTokens: input, caching: 'short', remaining });
          const most = boundCall(shaped, rates, { inputTokens: input, caching: 'short', remaining: null })!;
          const least = Math.min(256, asked);
          const costOfLeast = Math.ceil((input * inputMicros + least * n * outputMicros) / 1e6);
          if (bound === null) {
            expect(costOfLeast).toBeGreaterThan(remaining);
            return;
          }
          expect(bound.micros).toBeLessThanOrEqual(remaining);
          expect(bound.maxOutput).toBeGreaterThanOrEqual(least);
          // One token more would be too much, or it is all that was asked for.
          if (bound.maxOutput < asked)
            expect(
              Math.ceil((input * inputMicros + (bound.maxOutput + 1) * n * outputMicros) / 1e6),
            ).toBeGreaterThan(remaining);
          else expect(bound).toEqual(most);
        },
      ),
    );
  });
});

test('events are the same whatever the pieces they come in', () => {
  const text = 'data: {"a":"ä€😀"}\r\n\r\nevent: x\ndata:one\ndata: two\n\n: note\n\nid: 5\n\ndata: end';
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (sizes) => {
      const events: string[] = [];
      const reader = readSse((data) => events.push(data));
      const bytes = Buffer.from(text);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length]!;
        reader.write(bytes.subarray(at, at + size));
        at += size;
      }
      reader.end();
      expect(events).toEqual(['{"a":"ä€😀"}', 'one\ntwo', 'end']);
    }),
  );
  const endless = readSse(() => {});
  expect(() => {
    for (let i = 0; i < 40; i++) endless.write(Buffer.alloc(1024 * 1024, 'x'));
  }).toThrow(RangeError);
});
