import type { StyleProfile } from '#packages/canvas/style-profile.ts';

/** What a style is trained from. */
export interface TrainingOrder {
  key: string;
  images: readonly { data: Buffer; txt: string }[];
  /** SD-1.5 or SD-XL. */
  base: string;
  checkpoint: string;
  batch: number;
  epochs: number;
}

export interface TrainingIo {
  signal: AbortSignal;
  /** 0 to 1, and how the style looks so far. */
  progress: (fraction: number, preview?: Buffer) => void;
  log: (line: string) => Promise<void>;
  /** Keeps what the service calls the work; whoever takes it over is given it as `resume`. */
  remember: (remote: unknown) => Promise<void>;
  resume: unknown;
}

export interface TrainedStyle {
  /** Null: the service tells nothing of it. */
  profile: Omit<StyleProfile, 'key' | 'label'> | null;
  /** A file to download; null: there is none but the profile. */
  artifact: { data: Buffer; name: string } | null;
}

/** What trains a style of images. It rejects with a TrainingError. */
export interface TrainingEngine {
  /** For people; empty: what is built in. */
  readonly label: string;
  /** Tokens are taken for it. */
  readonly paid: boolean;
  /** The channel that a manager connected; left out: the settings name the service. */
  readonly channelId?: number;
  train: (order: TrainingOrder, io: TrainingIo) => Promise<TrainedStyle>;
}

export class TrainingError extends Error {
  readonly retriable: boolean;
  constructor(message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retriable = options.retriable;
  }
}
