import { trainLimits } from '#contract/train-limits.ts';

/** Numbers for texts: alike texts lie near each other. */
export interface EmbeddingEngine {
  readonly model: string;
  /** The channel that a manager connected; left out: the settings name the service. */
  readonly channelId?: number;
  /** Nothing is taken for it: it runs on this machine. */
  readonly free?: boolean;
  /** Texts that one request takes. */
  readonly batch: number;
  /**
   * A vector for each text, in their order, with the tokens that it took.
   * @param question they are asked by somebody who waits, rather than kept to be found
   * @throws EmbeddingError
   */
  embed: (
    texts: readonly string[],
    signal: AbortSignal,
    question?: boolean,
  ) => Promise<{ vectors: Buffer[]; tokens: number }>;
}

/** Tokens taken per token that it embeds. */
export const factorOf = ({ free }: Pick<EmbeddingEngine, 'free'>): number =>
  free ? 0 : trainLimits.embeddingFactor;

export class EmbeddingError extends Error {
  /** A later try may do it. */
  readonly retriable: boolean;
  constructor(message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retriable = options.retriable;
  }
}
