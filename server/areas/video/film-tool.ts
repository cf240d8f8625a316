import { videoDeduction } from '#contract/price.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import type { FileService } from '../file/file.service.ts';
import { imageAddress } from '../image/images.service.ts';
import { pictureArgument, pictureOfTalk } from '../image/pictures-of-talk.ts';
import type { ModelService } from '../model/model.service.ts';
import { jobOfCall, telling, tookText } from '../tool/job-tool.ts';
import { textOf, ToolFailure, type Tool } from '../tool/tool.ts';
import { filmAddresses } from './film-files.ts';
import { filmLivesMs } from './video-work.ts';
import { createVideoService } from './video.service.ts';
import { filmOfJob } from './video.store.ts';

const noFilm = '视频没有做成，没有扣费';

/** Brings a picture of the conversation to move, by the work that sessions of films are made by. */
export const createMakeFilm = (deps: {
  models: Pick<ModelService, 'findMedia' | 'defaultMedia'>;
  files: Pick<FileService, 'takeImages' | 'requireRoom'>;
  jobs: Pick<Jobs, 'cancel'>;
}): Tool => {
  const films = createVideoService(deps);
  const promptOf = (given: Record<string, unknown>): string =>
    given['prompt'] === undefined || given['prompt'] === '' ? '' : textOf(given, 'prompt', 1500);
  return {
    label: '做视频',
    seconds: filmLivesMs / 1000,
    again: true,
    perReply: 2,
    spec: {
      name: 'make_film',
      description: '把对话里的一张图片做成几秒的视频，直接显示；没有图片就先 draw',
      parameters: {
        type: 'object',
        properties: {
          prompt: { type: 'string', description: '怎样动' },
          image: pictureArgument,
        },
      },
    },
    asks: (given, context) =>
      telling(async () => {
        const { db, user } = context;
        const prompt = promptOf(given);
        const { id } = await pictureOfTalk(given, context);
        const model = await films.usualModel(db, user);
        const price = user.vip && !model.vipExcluded ? 0 : videoDeduction(model);
        return price === 0
          ? null
          : `用「${model.label}」把图片 ${id} 做成视频，约 ${price} tokens${prompt && `：\n${prompt}`}`;
      }),
    run: (given, context) =>
      telling(async () => {
        const { db, user, key, sessionId, historyId } = context;
        const begin = async () => {
          const picture = await pictureOfTalk(given, context);
          const prompt = promptOf(given) || picture.prompt;
          const at = { sessionId, historyId };
          return films.forCall(db, { key, prompt, image: imageAddress(picture), at }, user);
        };
        const row = await jobOfCall(deps.jobs, context, begin, noFilm);
        const film = await filmOfJob(db, row.id);
        if (!film) throw new ToolFailure('视频已经不在了');
        const { url, poster } = filmAddresses(film.key, film.mime);
        const { width, height, size } = film;
        const name = `视频.${film.mime === 'video/mp4' ? 'mp4' : 'webm'}`;
        return {
          text: `做好了一个 ${Math.round(film.duration / 1000)} 秒的视频${tookText(row)}，已经显示给用户。`,
          files: [{ name, url, size, film: { poster, width, height } }],
        };
      }),
  };
};
