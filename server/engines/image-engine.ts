import type { ImageAbility, ImageAction, ImageParameters } from '#contract/image.ts';
import type { StyleProfile } from '#packages/canvas/style-profile.ts';
import type { SentOut } from './sent-out.ts';
import { ServiceError } from './service-wire.ts';

/** An image that goes along to show a character or a style. */
export interface Reference {
  data: Buffer;
  /** Where services on the internet find it, for those that take nothing else; empty: nowhere. */
  address: string;
}

/** What an engine is to make, with everything it needs at hand. */
export interface ImageOrder {
  task: 'generate' | 'upscale' | 'edit' | 'remove-background' | 'edit-background' | 'action';
  /** The model's name at the service. */
  model: string;
  /** What the model is to be given, with its syntax as `contract/image-prompt.ts` made it. */
  prompt: string;
  n: number;
  /** Pixels. */
  width: number;
  height: number;
  parameters: ImageParameters;
  /** PNG or JPEG bytes of the image to start from, already upright; null: none. */
  base: Buffer | null;
  /** How much of it is changed, percent. */
  strength: number;
  /** 0 stretch, 1 crop, 2 fill, 3 upscale. */
  resizeMode: number;
  control: {
    image: Buffer;
    module: string;
    model: string;
    mode: 0 | 1 | 2;
  } | null;
  references: { character: Reference[]; style: Reference[] };
  /** Images that are made into one; empty: none. */
  blend: Buffer[];
  /** Of an edited background. */
  background: Buffer | null;
  /** Styles that were trained here, for what is built in to apply. */
  profiles?: readonly StyleProfile[];
  /** What the service called the image's work (`EngineImage.remote`); an action needs it. */
  remote: unknown;
}

export interface EngineImage {
  /** Bytes in any format that sharp reads; null where this one failed. */
  data: Buffer | null;
  /** Why, in Chinese; empty: it did not. */
  error: string;
  seed: number | null;
}

export interface ImageResult {
  images: EngineImage[];
  actions: ImageAction[];
  /** As the service changed the words; empty: it did not. */
  revisedPrompt: string;
  /** Things in the words that it cannot draw, where it knows. */
  unread?: readonly string[];
  /** What the service calls this work; kept for actions on it. JSON. */
  remote: unknown;
}

/** How a work is followed. All may be called often; the runner thins them out. */
export interface ImageIo {
  /** Aborted when it is cancelled or its time is over: the service is told to stop, too. */
  signal: AbortSignal;
  /** Aborted when no more shall be sent: what is out at a service is waited for. */
  stopped: AbortSignal;
  sent: SentOut;
  /** 0 to 1, never falling; the image so far in any format that sharp reads. */
  progress: (fraction: number, preview?: Buffer) => void;
  /**
   * Keeps what the service calls the work, as soon as it is known: a worker that takes it over is
   * given it as `resume` and goes on asking instead of ordering again.
   */
  remember: (remote: unknown) => Promise<void>;
  /** What an earlier worker remembered; null: this one is the first. */
  resume: unknown;
}

/** What can be chosen at a service; what it cannot be asked for is empty. */
export interface ImageChoices {
  checkpoints: { name: string; label: string }[];
  defaultCheckpoint: string;
  loras: { key: string; label: string }[];
  styles: { name: string; label: string }[];
  samplers: string[];
  upscalers: string[];
  controlTypes: { type: string; label: string; modules: string[]; models: string[] }[];
}

/** Of a service where nothing can be chosen. */
export const noChoices: ImageChoices = {
  checkpoints: [],
  defaultCheckpoint: '',
  loras: [],
  styles: [],
  samplers: [],
  upscalers: [],
  controlTypes: [],
};

/** A service that makes images. What it rejects with is an ImageEngineError. */
export interface ImageEngine {
  readonly abilities: readonly ImageAbility[];
  /** Works at once on this channel, in all processes together; a service that tells its progress for all has 1. */
  readonly concurrency: number;
  run: (order: ImageOrder, io: ImageIo) => Promise<ImageResult>;
  choices: (signal: AbortSignal) => Promise<ImageChoices>;
  /** A preview of what a controlnet module sees in an image: PNG. */
  detect: (
    request: { image: Buffer; module: string; parameters: Record<string, number> },
    signal: AbortSignal,
  ) => Promise<Buffer>;
  /** Words for an image: English, and Chinese where the engine knows them (else empty). */
  interrogate: (
    request: { image: Buffer; model: 'clip' | 'DeepBooru' },
    signal: AbortSignal,
  ) => Promise<{ text: string; chinese: string }>;
}

/** Its codes are job_unsuitable, engine_failed, engine_timeout, prompt_banned … */
export class ImageEngineError extends ServiceError {}
