import type { Model } from '#contract/model.ts';
import type { ModelKind } from '#src/platform/queries.ts';

export interface ModelSheetProps {
  open: boolean;
  /** Name of the model in use. */
  value: string;
  title?: string;
  /** Those that can be chosen here. */
  only?: ((model: Model) => boolean) | undefined;
  /** Left out: chat. */
  kind?: ModelKind | undefined;
  onClose: () => void;
  onChoose: (name: string) => void;
}
