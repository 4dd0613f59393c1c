/** A field that the service refused. */
export interface Field {
  /** JSON pointer into the body, or `/query/…`, `/headers/…`, `/params/…`. */
  path: string;
  message: string;
}

/**
 * An unsuccessful answer. `code` is the stable name to decide by; `status` 0 means that no answer arrived.
 */
export class HeadraceError extends Error {
  readonly status: number;
  /** From the service, or `network_error` and `invalid_response` when it did not answer properly. */
  readonly code: string;
  readonly fields: readonly Field[];
  readonly requestId: string | null;
  /** The other members of the answer's `error`: `operationId`, `reason`, `current`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    options: {
      fields?: readonly Field[];
      requestId?: string | null;
      details?: Record<string, unknown>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'HeadraceError';
    this.status = status;
    this.code = code;
    this.fields = options.fields ?? [];
    this.requestId = options.requestId ?? null;
    this.details = options.details ?? {};
  }
}

/** The waiting time is over; the work itself continues. */
export class WaitTimeoutError extends Error {
  constructor(what: string, milliseconds: number) {
    super(
      `${what} did not end within ${Math.round(milliseconds / 1000)} s. It goes on; read it again later.`,
    );
    this.name = 'WaitTimeoutError';
  }
}

/** The error in an answer's body, including a proxy's answer that is not JSON. */
export function errorOf(status: number, requestId: string | null, text: string): HeadraceError {
  try {
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; requestId?: string; fields?: Field[] } & Record<
        string,
        unknown
      >;
    };
    const { code, message, requestId: id, fields, ...details } = error;
    const said = fields?.length
      ? `${message} (${fields
          .slice(0, 5)
          .map((f) => `${f.path}: ${f.message}`)
          .join('; ')})`
      : message;
    return new HeadraceError(status, code, said, {
      requestId: id ?? requestId,
      details,
      ...(fields ? { fields } : {}),
    });
  } catch {
    return new HeadraceError(
      status,
      'invalid_response',
      `The answer ${status} is not one of Headrace's: ${text.slice(0, 200)}`,
      { requestId },
    );
  }
}
