import { useAuth } from '@/platform/auth-store.ts';
import { requestOf } from '@/widgets/image/image-draft.ts';
import { imagePrice } from '@/widgets/image/image-price.ts';
import type { Model } from '@contract/model.ts';

/** What the first pictures of a session take: as many and as large as its model usually makes. */
export default function DrawPrice({ model }: { model: Model }) {
  const { user } = useAuth();
  const { text, words } = imagePrice(requestOf({}, model), model, user);
  return (
    <>
      <span aria-hidden="true">{text}</span>
      <span className="sr-only">{words}</span>
    </>
  );
}
