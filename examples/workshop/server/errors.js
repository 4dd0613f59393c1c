// An error that a client may see. `code` is a translation key: the page shows the text
// in the member's language, so messages are never written here.

export class HttpError extends Error {
  constructor(status, code, details = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export const notFound = () => new HttpError(404, 'error.notFound');
export const forbidden = () => new HttpError(403, 'error.forbidden');
export const signInNeeded = () => new HttpError(401, 'error.signInNeeded');
export const invalid = (problems) => new HttpError(422, 'error.invalid', { problems });
export const refused = (reasons) => new HttpError(409, 'error.refused', { reasons });

/** The public form of any thrown value; what is not an HttpError says nothing about itself. */
export function toResult(error) {
  if (!(error instanceof HttpError)) return { status: 500, body: { code: 'error.internal' } };
  return { status: error.status, body: { code: error.code, ...error.details } };
}
