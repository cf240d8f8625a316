import { useNavigate } from '@tanstack/react-router';
import { api } from '#src/platform/api.ts';
import { writeDraft } from '#src/platform/draft.ts';
import { useChosenPainter, useImageModels, useVideoModels } from '#src/platform/queries.ts';
import { toast } from '#src/platform/toast.ts';
import { useRefusal } from '#src/widgets/conversation/use-refusal.ts';
import { changeImageDraft, type ImageDraft } from '#src/widgets/image/image-draft.ts';
import { imageSizes } from '#contract/image-size.ts';
import type { ImageInfo } from '#contract/gallery.ts';
import type { ImageParameters } from '#contract/image.ts';

/** What of an image's parameters tells how to make another one like it. */
const ownParameters = (parameters: ImageParameters): ImageParameters => {
  const {
    mask: _mask,
    resize: _resize,
    upscaler: _upscaler,
    image_id: _image,
    action: _action,
    zoom: _zoom,
    bg_color: _colour,
    bg_image: _ground,
    ...rest
  } = parameters;
  return rest;
};

const sizeOf = ({ size }: ImageInfo) =>
  imageSizes.find(({ width, height }) => `${width}x${height}` === size)?.code;

/** What others like an image are asked for with. */
export const likeImage = (info: ImageInfo): ImageDraft => ({
  base_image: info.url,
  parameters: ownParameters(info.parameters),
  size: sizeOf(info),
});

/** Ways to go on from an image in a new session. */
export const useStartFrom = () => {
  const navigate = useNavigate();
  const refuse = useRefusal();
  const painter = useChosenPainter();
  const models = useImageModels().data ?? [];
  const films = (useVideoModels().data ?? []).length > 0;
  const begin = async (model: string | undefined, type: 1 | 4 = 1): Promise<string | null> => {
    try {
      const session = await api.newSession({ type, model }, { quiet: true });
      return session.uuid;
    } catch (error) {
      refuse(error);
      return null;
    }
  };
  /** The image's own model where it can still be chosen. */
  const modelOf = ({ model }: ImageInfo) =>
    models.find(({ name }) => name === model)?.name ?? painter?.name;

  return {
    /** The same words, model and parameters, in the box: one press draws. */
    remix: async (info: ImageInfo) => {
      const session = await begin(modelOf(info));
      if (session === null) return;
      const base = info.how === 'img2img' ? (info.parents[0]?.url ?? '') : '';
      writeDraft(session, info.whole_prompt);
      changeImageDraft(session, {
        parameters: {
          ...ownParameters(info.parameters),
          ...(info.seed === null ? {} : { seed: info.seed }),
        },
        size: sizeOf(info),
        inspired_by: info.id,
        ...(base === '' ? {} : { base_image: base }),
      });
      toast('提示词和参数都填好了，可以直接画', 'success');
      await navigate({ to: '/chat', search: { uuid: session } });
    },
    /** New words for the image as the base. */
    imageToImage: async (info: ImageInfo) => {
      const session = await begin(modelOf(info));
      if (session === null) return;
      await navigate({
        to: '/chat',
        search: { uuid: session, open: 'img-tool', tab: 'img2img', image_url: info.url },
      });
    },
    /** A film of it; null: no model makes films. */
    imageToVideo: films
      ? async (info: ImageInfo) => {
          const session = await begin(undefined, 4);
          if (session === null) return;
          await navigate({
            to: '/chat',
            search: { uuid: session, open: 'img-video', image_url: info.url },
          });
        }
      : null,
    /** The same words alone. */
    textToImage: async (prompt: string, info: ImageInfo) => {
      const session = await begin(modelOf(info));
      if (session === null) return;
      writeDraft(session, prompt);
      await navigate({ to: '/chat', search: { uuid: session } });
    },
    /** Asks at once for others like it. */
    vary: async (draft: ImageDraft, words: string, model: string) => {
      const session = await begin(model);
      if (session === null) return;
      changeImageDraft(session, draft);
      await navigate({
        to: '/chat',
        search: { uuid: session, prompt: words, send: 1 },
        state: { sends: true },
      });
    },
  };
};
