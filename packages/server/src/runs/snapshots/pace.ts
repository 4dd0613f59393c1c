/**
 * When the work of a run is captured. Together with the time that a capture takes to be stored, no more than 30 seconds of
 * work are lost with a runner. Tests shorten it.
 */
export const pace = {
  lookMs: 1_000,
  /** From then on after the last capture: at the next moment without a tool call, when the agent waits for its model. */
  quietMs: 20_000,
  /** Then in the middle of a tool call, too. */
  fullMs: 25_000,
  /** From a failure on, or for twice as long as the attempt took: on a slow machine the turn must not stand still all the time. */
  againMs: 2_000,
};
