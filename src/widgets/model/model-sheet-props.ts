import type { Model } from '#contract/model.ts';

export interface ModelSheetProps {
  open: boolean;
  /** Name of the model in use. */
  value: string;
  title?: string;
  /** Those that can be chosen here. */
  only?: ((model: Model) => boolean) | undefined;
  /** Models of images; else those of chats. */
  images?: boolean;
  /** Models of films. */
  films?: boolean;
  onClose: () => void;
  onChoose: (name: string) => void;
}
