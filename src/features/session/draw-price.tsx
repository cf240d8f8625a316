import { useAuth } from '#src/platform/auth-store.ts';
import { useDraft } from '#src/platform/draft.ts';
import { useSettings } from '#src/platform/queries.ts';
import { draftWithSettings, requestOf, useImageDraft } from '#src/widgets/image/image-draft.ts';
import { useTranslationCost } from '#src/widgets/image/translation-price.ts';
import { imagePrice } from '#src/widgets/image/image-price.ts';
import type { Model } from '#contract/model.ts';

/** What the first images of a session take, as they are chosen below the box. */
export default function DrawPrice({ model }: { model: Model }) {
  const { user } = useAuth();
  const [prompt] = useDraft('home');
  const [draft] = useImageDraft('home');
  const costOf = useTranslationCost();
  const image = requestOf(draftWithSettings(draft, useSettings()), model);
  const translation = costOf({ type: 'txt2img', prompt, image }, model);
  const { text, words } = imagePrice(image, model, user, translation);
  return (
    <>
      <span aria-hidden="true">{text}</span>
      <span className="sr-only">{words}</span>
    </>
  );
}
