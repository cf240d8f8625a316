import type { Answer, Parsed } from '#contract/calls.ts';
import type { ImageKin } from '#contract/gallery.ts';
import { limits } from '#contract/limits.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { offeredActions } from '../chat/image-messages.service.ts';
import type { EditService } from '../image/edit.service.ts';
import {
  childrenOf,
  isPublic,
  type Kin,
  listedImage,
  pageOfImages,
  parentsOf,
  requireImage,
  seenImage,
  viewerOf,
  viewImage,
  noImage,
} from '../image/images.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { anySession } from '../session/session.service.ts';
import { setVote } from './gallery.store.ts';

const orders = {
  '': 'newest',
  upload: 'newest',
  all: 'liked',
  month: 'month',
  week: 'week',
  day: 'day',
} as const;
const sorts = { default: 'hot', newest: 'newest', 'most-popular': 'liked' } as const;

const kinView = (kin: Kin): ImageKin => {
  const { id, uuid, url, size, origin } = viewImage(kin);
  return { id, uuid, url, size, origin, how: kin.how };
};

/** Whose words an image was drawn from, as far as a person may see that one. */
const inspirationOf = async (db: Executor, id: number | null, viewer: number) => {
  const from = id === null ? null : await seenImage(db, id, viewer);
  return (
    from && {
      inspired_by: { ...kinView(from), user_id: from.user_id, user_name: from.user_name },
    }
  );
};

/** Tasks that keep the words of what they were done to. */
const wordless: ReadonlySet<string> = new Set(['upscale', 'remove-bg', 'edit-bg']);

/**
 * The words of a whole image: one whose part was redrawn has its part's alone, after those of what
 * it was made from.
 * @param line the image and what it was made from, the nearest first
 */
const wholeWords = (
  line: readonly { how: string; prompt: string; deleted?: boolean }[],
): string => {
  const words: string[] = [];
  for (const { how, prompt, deleted } of line) {
    if (deleted) break;
    if (!wordless.has(how) && prompt !== '') words.unshift(prompt);
    if (how !== 'edit' && !wordless.has(how)) break;
  }
  return words.length > 0 ? words.join('，') : (line[0]?.prompt ?? '');
};

export const createGalleryService = (deps: {
  models: Pick<ModelService, 'findImage'>;
  edits: Pick<EditService, 'toolsFor'>;
}) => {
  const userinfoOf = (db: Executor, user: Identity | null) =>
    user ? viewerOf(db, user.id) : Promise.resolve(null);

  const labelOf = async (db: Executor, model: string): Promise<string> =>
    model === '' ? '' : ((await deps.models.findImage(db, model))?.label ?? model);

  return {
    async index(
      db: Executor,
      input: Parsed<'imageIndex'>,
      user: Identity | null,
    ): Promise<Answer<'imageIndex'>> {
      const { page, private: mine, rank, session_id: sessionId } = input;
      if (mine === 1 && !user) throw new Refusal('unauthorized');
      const userinfo = await userinfoOf(db, user);
      const viewer = user?.id ?? 0;
      // By likes all of one's own are compared; otherwise what was drawn and what was brought are two.
      const uploaded = rank === 'upload' ? true : rank === '' ? false : null;
      const listed = await pageOfImages(db, {
        choice:
          mine === 0
            ? { of: 'public' }
            : sessionId === undefined
              ? { of: 'person', userId: viewer, uploaded }
              : { of: 'person', userId: viewer, uploaded: null, sessionId },
        query: input.query.trim(),
        order: orders[rank],
        viewer,
        page,
        pageSize: limits.galleryPage,
      });
      return { ...listed, userinfo, vip: userinfo?.vip ?? 0 };
    },

    async explore(
      db: Executor,
      { page, sort }: Parsed<'imageExplore'>,
      user: Identity | null,
    ): Promise<Answer<'imageExplore'>> {
      const listed = await pageOfImages(db, {
        choice: { of: 'public' },
        order: sorts[sort],
        viewer: user?.id ?? 0,
        page,
        pageSize: limits.galleryPage,
      });
      return { ...listed, userinfo: await userinfoOf(db, user) };
    },

    async info(
      db: Executor,
      input: Parsed<'imageInfo'>,
      user: Identity | null,
    ): Promise<Answer<'imageInfo'>> {
      const row = await requireImage(db, input.image_id, user, 'see');
      const viewer = user?.id ?? 0;
      const listed = await listedImage(db, row.id, viewer);
      if (!listed) throw noImage();
      const view = viewImage(listed);
      const gone = view.url === '';
      const own = row.userId === viewer;
      const open = await isPublic(db, row.id);
      const session = row.sessionId === null ? null : await anySession(db, String(row.sessionId));
      const readable = session !== null && session.deletedAt === null && (own || open);
      const label = await labelOf(db, row.model);
      const author = await viewerOf(db, row.userId);
      const parents = gone ? [] : await parentsOf(db, row.id, viewer, limits.imageKin.parents);
      const children = await childrenOf(db, row.id, viewer, limits.imageKin.children);
      const mayWork = user !== null && !gone && input.explore === 0;
      const offered =
        own && mayWork && row.historyId !== null ? await offeredActions(db, row.historyId) : [];
      return {
        info: {
          ...view,
          session: readable
            ? {
                uuid: session.uuid,
                model: session.model,
                model_label: await labelOf(db, session.model),
              }
            : null,
          history: { id: readable ? (row.historyId ?? 0) : 0, prompt: view.prompt },
          isLiked: view.like,
          user_name: author?.user_name ?? '',
          model_label: label,
          seed: gone ? null : row.seed,
          parameters: gone ? {} : row.parameters,
          how: row.how,
          whole_prompt: gone ? '' : wholeWords([{ how: row.how, prompt: view.prompt }, ...parents]),
          own,
          public: open,
          parents: parents.map(kinView),
          children: children.map(kinView),
          ...(gone ? {} : await inspirationOf(db, row.inspiredBy, viewer)),
          tools: mayWork ? await deps.edits.toolsFor(db, row, user) : [],
        },
        components: [...offered],
        isLiked: view.like,
      };
    },

    like(db: Executor, input: Parsed<'likeImage'>, user: Identity): Promise<Answer<'likeImage'>> {
      return inTransaction(db, async (tx) => {
        const image = await requireImage(tx, input.image_id, user, 'see');
        if (image.deletedAt !== null) throw new Refusal('not_found', '图片已删除');
        const { status } = input;
        const { liked, disliked } = await setVote(tx, image.id, user.id, status);
        return {
          status,
          like: status,
          isLiked: status,
          liked_count: liked,
          disliked_count: disliked,
        };
      });
    },
  };
};
