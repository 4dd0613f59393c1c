/** The engine could not do the work; the same request may succeed later. */
export class MergeUnavailable extends Error {
  readonly reason: 'busy' | 'timeout' | 'crashed' | 'failed' | 'closed';

  constructor(reason: MergeUnavailable['reason'], message: string) {
    super(message);
    this.name = 'MergeUnavailable';
    this.reason = reason;
  }
}
