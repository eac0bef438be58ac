// How large things may be. The SQL functions check for themselves, and refuse nothing for its size that passes here.

export const LIMITS = {
  /** UTF-8 bytes of an input as PostgreSQL prints the stored jsonb. */
  inputBytes: 262_144,
  /** UTF-8 bytes of an output as PostgreSQL prints the stored jsonb. */
  outputBytes: 262_144,
  /** Arrays and objects inside one another; PostgreSQL's parser is recursive and ends with 54001 far beyond this. */
  depth: 64,
  /** UTF-8 bytes of a described failure as PostgreSQL prints the stored jsonb. */
  errorBytes: 16_384,
  /** UTF-8 bytes of a key; well below the 2,704 that one entry of a B-tree index may have. */
  keyBytes: 512,
  /** UTF-8 bytes of the name of a queue or a job type. */
  nameBytes: 100,
  /** UTF-8 bytes of the name of a step, a wait or an event. */
  labelBytes: 200,
  /** What one job can remember: steps, sleeps and waits together. */
  steps: 10_000,
  /** UTF-8 bytes of the reason given for a cancellation. */
  reasonBytes: 1_000,
  tags: 20,
  tagCharacters: 100,
  maxAttempts: 1_000,
  priority: 9,
  /** Ten years, longer than any sensible wait and far inside PostgreSQL's range of timestamps. */
  durationMs: 3_650 * 86_400_000,
} as const
