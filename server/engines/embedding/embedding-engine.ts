/** Numbers for texts: alike texts lie near each other. */
export interface EmbeddingEngine {
  readonly model: string;
  /** The channel that a manager connected; left out: the settings name the service. */
  readonly channelId?: number;
  /** Texts that one request takes. */
  readonly batch: number;
  /**
   * A vector for each text, in their order, with the tokens that it took.
   * @throws EmbeddingError
   */
  embed: (
    texts: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ vectors: Buffer[]; tokens: number }>;
}

export class EmbeddingError extends Error {
  /** A later try may do it. */
  readonly retriable: boolean;
  constructor(message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retriable = options.retriable;
  }
}
