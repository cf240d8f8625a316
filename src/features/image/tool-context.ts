import { useDraft } from '#src/platform/draft.ts';
import {
  changeImageParameters,
  useImageDraft,
  type ImageDraft,
} from '#src/widgets/image/image-draft.ts';
import { useImageMetadata } from '#src/widgets/image/image-metadata.ts';
import type { PickedImage } from '#src/widgets/image/picked-image.ts';
import type { Out } from '#contract/calls.ts';
import { readImageWords, type ImageWords } from '#contract/image-prompt.ts';
import type { ImageModel, ImageParameters } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { createContext, use, useMemo } from 'react';

export type Metadata = Out<'imageMetadata'>;

/** What every tab of the tool works on: the words of a box and what goes with them. */
export interface ToolState {
  key: string;
  model: Model;
  image: ImageModel;
  text: string;
  setText: (text: string) => void;
  words: ImageWords;
  draft: ImageDraft;
  change: (change: ImageDraft) => void;
  parameters: ImageParameters;
  /** undefined takes a choice back. */
  setParameters: (change: ImageParameters) => void;
  metadata: UseQueryResult<Metadata>;
  /** The base image that is being cropped; null: none. */
  cropping: PickedImage | null;
  setCropping: (image: PickedImage | null) => void;
}

const ToolContext = createContext<ToolState | null>(null);
export const ToolProvider = ToolContext.Provider;

export const useTool = (): ToolState => {
  const state = use(ToolContext);
  if (!state) throw new Error('outside of the image tool');
  return state;
};

const noParameters: ImageParameters = {};

/** Without what only stands on the page. */
export const useToolState = (
  key: string,
  model: Model,
  image: ImageModel,
): Omit<ToolState, 'cropping' | 'setCropping'> => {
  const [text, setText] = useDraft(key);
  const [draft, change] = useImageDraft(key);
  const { name } = model;
  const metadata = useImageMetadata(name);
  const words = useMemo(() => readImageWords(text, image.family), [text, image.family]);
  const setParameters = useMemo(
    () => (change: ImageParameters) => changeImageParameters(key, change),
    [key],
  );
  return {
    key,
    model,
    image,
    text,
    setText,
    words,
    draft,
    change,
    parameters: draft.parameters ?? noParameters,
    setParameters,
    metadata,
  };
};
