/**
 * A refusal of the runner, as it travels: HTTP status, stable snake_case code, message for a person. The
 * client throws the same class, with status 503 and code `unavailable` where no runner answers.
 */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}
