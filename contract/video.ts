import * as z from 'zod/mini';
import {
  always,
  call,
  chosen,
  decimal,
  flag,
  id,
  listOf,
  page,
  text,
  time,
  wholeNumber,
  requestId,
  personName,
} from './call.ts';
import { user } from './auth.ts';
import { job } from './job.ts';
import { limits } from './limits.ts';

const { cfgScale, motion } = limits.film;

/** What a model of films takes, so that the page asks for nothing else. */
export const videoModel = z.object({
  /** `WxH` that a base image must have; empty: any. */
  sizes: z.array(z.string()),
  /** Seconds of a film. */
  seconds: z.number(),
  /** The way of the camera can be chosen; left out: it goes its own. */
  moves: z.optional(z.boolean()),
});
export type VideoModel = z.output<typeof videoModel>;

/** Ways of the camera: nearer, farther, around. */
export const filmMoves = ['in', 'out', 'around'] as const;
export type FilmMove = (typeof filmMoves)[number];

/** How a base image is brought to move (documents 2 §3, §5, §9). */
export const videoParameters = z.object({
  /** How closely the film keeps to the image. */
  cfg_scale: z.optional(decimal(cfgScale.min, cfgScale.max)),
  /** How much moves. */
  motion_bucket_id: z.optional(wholeNumber(motion.min, motion.max)),
  /** Must be the session's model where given. */
  cfg_model: chosen(100),
  seed: z.optional(wholeNumber(0, 4_294_967_294)),
  /** Left out: a way of its own, which comes back to where it began. */
  move: z.optional(z.enum(filmMoves)),
  /** 1: the same way from its end. */
  reverse: z.optional(flag),
});

/** A message of a session of films, flat in `msg` with format 1 (document 1 §3). */
export const videoMessage = z.object({
  prompt: z._default(text(65_535), ''),
  type: z._default(z.literal('img2video'), 'img2video'),
  app: z._default(text(100), ''),
  base_image: z._default(text(2000), ''),
  parameters: z._default(videoParameters, {}),
});
export type VideoMessage = z.output<typeof videoMessage>;

/** One film of an answer; the JSON list of them is `ai` of a message of type 4. */
export const madeVideo = z.object({
  id: z.int(),
  uuid: z.string(),
  /** Address below this server; takes `Range`. Empty: deleted. */
  url: z.string(),
  /** Its first image; `/w200` behind it, or `?size=`, gives small ones. */
  poster: z.string(),
  width: z.int(),
  height: z.int(),
  /** Seconds. */
  duration: z.number(),
  /** Why it failed; empty: it did not. */
  error: z.string(),
});
export type MadeVideo = z.output<typeof madeVideo>;

export const listedVideo = z.object({
  id: z.int(),
  uuid: z.string(),
  url: z.string(),
  poster: z.string(),
  width: z.int(),
  height: z.int(),
  duration: z.number(),
  prompt: z.string(),
  model: z.string(),
  user_id: z.int(),
  user_name: personName,
  /** Where it was made. */
  session_uuid: z.string(),
  history_id: z.int(),
  created_at: time,
});
export type ListedVideo = z.output<typeof listedVideo>;

export const videoCalls = {
  generateVideo: call({
    method: 'POST',
    path: '/api/video/generate_video',
    access: 'guest',
    countsForGuests: always,
    idempotent: true,
    summary:
      '为一条已发送的消息开始制作视频；结果写在消息里，进度由 image/progress 或 job_events 读',
    input: z.object({
      history_id: id,
      /** Number of the job, made by the client. */
      request_id: requestId,
      /** Must be the session's where given. */
      model: chosen(100),
      /** Beside or instead of those in the message. */
      parameters: z.optional(videoParameters),
    }),
    output: z.object({ job, videos: z.array(madeVideo) }),
    codes: [
      'model_unavailable',
      'paid_only',
      'login_required',
      'balance',
      'balance_excluded',
      'session_busy',
      'session_unsuitable',
      'not_owner',
      'job_unsuitable',
      'too_many_jobs',
      'private_session',
      'session_deleted',
    ],
  }),
  videoIndex: call({
    method: 'GET',
    path: '/api/video/index',
    access: 'public',
    summary: '视频，新的在前：公开会话里的，private=1 时自己的；每页 10 个',
    input: z.object({ page, private: z._default(flag, 0) }),
    output: z.object({
      ...listOf(listedVideo),
      /** Who asks; null: a visitor. */
      userinfo: z.nullable(user),
      vip: z.int(),
    }),
  }),
};
