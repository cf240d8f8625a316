import * as z from 'zod/mini';
import { call, flag, id, listOf, page, text, wholeNumber, personName } from './call.ts';
import { imageAction, imageOrigin, imageParameters, listedImage } from './image.ts';

/** What a gallery is ordered by: newest first, own uploads alone, or by likes of a time. */
const imageRank = z.enum(['', 'upload', 'all', 'month', 'week', 'day']);

const exploreSort = z.enum(['default', 'newest', 'most-popular']);

/** The modes of the dialog that make something; what the calls of image.ts do. */
export const imageMethod = z.enum([
  'upscale',
  'interrogate',
  'removeBg',
  'editBg',
  'variations',
  'edit',
]);
export type ImageMethod = z.output<typeof imageMethod>;

/** Who looks at the gallery; null: nobody who has signed in. */
const userinfo = z.nullable(
  z.object({ id: z.int(), user_name: z.string(), avatar: z.string(), vip: z.int() }),
);

/** One of an image's kin. */
const kin = z.object({
  id: z.int(),
  uuid: z.string(),
  /** Empty: it was deleted. */
  url: z.string(),
  size: z.string(),
  origin: imageOrigin,
  /** The task by which it was made from the one before it; empty: none. */
  how: z.string(),
});
export type ImageKin = z.output<typeof kin>;

export const imageInfo = z.extend(listedImage, {
  /** Where it was drawn; null: nowhere, or the asker may not read that. */
  session: z.nullable(z.object({ uuid: z.string(), model: z.string(), model_label: z.string() })),
  history: z.object({ id: z.int(), prompt: z.string() }),
  isLiked: z.int(),
  user_name: personName,
  model_label: z.string(),
  seed: z.nullable(z.int()),
  parameters: imageParameters,
  how: z.string(),
  /** The words that make the whole of it: where a part was redrawn, those of the rest and of the part. */
  whole_prompt: z.string(),
  /** The asker's own: it may be changed, hidden and deleted. */
  own: z.boolean(),
  /** Everybody may see it. */
  public: z.boolean(),
  /** What it was made from, the nearest first, and what was made from it, newest first. */
  parents: z.array(kin),
  children: z.array(kin),
  /** Whose words it was drawn from; left out: nobody else's, or the asker may not see that one. */
  inspired_by: z.optional(z.extend(kin, { user_id: z.int(), user_name: personName })),
  /** What the asker may do with it, by which model, how many that makes and what they take at most. */
  tools: z.array(
    z.object({
      method: imageMethod,
      model: z.string(),
      model_label: z.string(),
      n: z.int(),
      /** 0: free. */
      tokens: z.int(),
    }),
  ),
});
export type ImageInfo = z.output<typeof imageInfo>;

const liking = z.object({
  /** The asker's vote now, three times for what clients call it. */
  status: z.int(),
  like: z.int(),
  isLiked: z.int(),
  liked_count: z.int(),
  disliked_count: z.int(),
});

export const galleryCalls = {
  imageIndex: call({
    method: 'GET',
    path: '/api/image/index',
    access: 'public',
    summary:
      '图片：公共的，或自己的（private=1）。rank：空为最新，upload 为自己上传的，all、month、week、day 按得到的赞',
    input: z.object({
      page,
      query: z._default(text(200), ''),
      private: z._default(flag, 0),
      rank: z._default(imageRank, ''),
      /** Of one's own those of this session alone, however they came. */
      session_id: z.optional(id),
    }),
    output: z.object({ ...listOf(listedImage), userinfo, vip: z.int() }),
  }),
  imageExplore: call({
    method: 'GET',
    path: '/api/image/explore',
    access: 'public',
    summary: '发现：综合、最新、最多点赞',
    input: z.object({ page, sort: z._default(exploreSort, 'default') }),
    output: z.object({ ...listOf(listedImage), userinfo }),
  }),
  imageInfo: call({
    method: 'GET',
    path: '/api/image/info',
    access: 'public',
    summary: '一张图片的来历、参数、点赞与能做什么',
    input: z.object({
      /** 1: as the web gallery shows it, which is to look at alone. */
      explore: z._default(flag, 0),
      image_id: id,
    }),
    output: z.object({
      info: imageInfo,
      /** Buttons that its service offers below it. */
      components: z.array(imageAction),
      isLiked: z.int(),
    }),
  }),
  likeImage: call({
    method: 'POST',
    path: '/api/image/like',
    access: 'user',
    effect: 'none',
    summary: '给一张图片点赞（1）、点踩（-1）或收回（0），每人一票',
    input: z.object({ image_id: id, status: wholeNumber(-1, 1) }),
    output: liking,
  }),
  hideImage: call({
    method: 'POST',
    path: '/api/image/hide',
    access: 'guest',
    summary: '不让别人看到自己的一张图片，或重新让人看到',
    input: z.object({ image_id: id, hidden: flag }),
    output: z.object({ hidden: z.boolean() }),
    codes: ['not_owner'],
  }),
  deleteImage: call({
    method: 'DELETE',
    path: '/api/image/delete',
    access: 'guest',
    summary: '删除自己的一张图片：地址立刻失效',
    input: z.object({ image_id: id }),
    output: z.object({}),
    codes: ['not_owner'],
  }),
};
