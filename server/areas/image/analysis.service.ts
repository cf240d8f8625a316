import type { Parsed } from '#contract/calls.ts';
import type { ImageAbility } from '#contract/image.ts';
import { modelTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { ImageEngineError } from '#server/engines/image-engine.ts';
import type { FileService } from '../file/file.service.ts';
import { ownImage } from '../file/image-address.ts';
import { Refusal, type Identity } from '#server/http/handlers.ts';
import { createPersonLimit } from '#server/http/rate-limit.ts';
import { imageWays } from '#contract/image-family.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ImageChannel } from '../model/resolved-model.ts';
import type { PromptService } from '../prompt/prompt.service.ts';
import { requireUsable } from '../model/usable.ts';
import { imageAddress, requireImage } from './images.service.ts';

/** How long a service may take to look at an image, ms. */
const lookMs = 60_000;
/** Images that one person may have looked at in a minute. */
const looksAMinute = 30;

interface AnalysisDeps {
  models: Pick<ModelService, 'usable' | 'findImage' | 'imageEngines'>;
  files: Pick<FileService, 'imageAt'>;
  /** For words that a service gives in English alone; left out: they stay so. */
  translate?: PromptService['translate'];
}

const fetched = async (
  { files }: Pick<AnalysisDeps, 'files'>,
  url: string,
  signal: AbortSignal,
  user: Identity,
): Promise<Buffer> => {
  // A path of this server that is no image's is nobody's address.
  if (!ownImage(url) && !/^https?:/i.test(url)) throw new Refusal('address_unreachable');
  const image = await files.imageAt(url, signal, user);
  if (!image) throw new Refusal('address_unreachable');
  return image.data;
};

const channelsOf = async (
  { models }: Pick<AnalysisDeps, 'models'>,
  db: Executor,
  name: string,
  ability: ImageAbility,
  { id }: Identity,
): Promise<ImageChannel[]> =>
  (await models.imageEngines(db, name, id)).filter(({ engine }) =>
    engine.abilities.includes(ability),
  );

/** Asks one service after another. @throws Refusal job_unsuitable, engine_failed … */
const ask = async <T, C extends ImageChannel>(
  channels: readonly C[],
  look: (channel: C) => Promise<T>,
): Promise<T> => {
  let refusal = new Refusal('job_unsuitable');
  for (const channel of channels) {
    try {
      return await look(channel);
    } catch (error) {
      if (error instanceof ImageEngineError) {
        refusal = new Refusal(
          error.codeName === 'job_unsuitable' ? 'job_unsuitable' : 'engine_failed',
          error.message,
        );
        if (!error.retriable) break;
      } else if ((error as Error).name === 'TimeoutError') refusal = new Refusal('engine_failed');
      else throw error;
    }
  }
  throw refusal;
};

/**
 * Who looks: the service of that way or the model of that name alone; where nobody has the way,
 * services that know words for images before the one built in, which only measures them.
 */
const lookersFor = async (
  deps: Pick<AnalysisDeps, 'models'>,
  db: Executor,
  model: string,
  user: Identity,
  offered: (name: string) => boolean,
) => {
  const listed = (await deps.models.usable(db, user))
    .filter(({ name, type }) => type === modelTypes.image && offered(name))
    .sort((a, b) => Number(a.built_in) - Number(b.built_in));
  const way = (imageWays as readonly string[]).includes(model);
  const asked = listed.filter(({ name, image }) =>
    way ? image?.family === 'stable-diffusion' : name === model,
  );
  if (!way && asked.length === 0) throw new Refusal('model_unavailable');
  const among = async (some: typeof listed) => {
    const found = [];
    for (const { name, label } of some)
      for (const channel of await channelsOf(deps, db, name, 'interrogate', user))
        found.push({ ...channel, model: label });
    return found;
  };
  const first = await among(asked);
  return first.length > 0 || !way ? first : among(listed);
};

/** The words in Chinese, where a chat model can say them; null: there is none, or it did not. */
const translated = async (
  { translate }: Pick<AnalysisDeps, 'translate'>,
  words: string,
  user: Identity,
): Promise<string | null> => {
  if (!translate) return null;
  try {
    const asker = { id: user.id, guest: user.guest };
    const { result, translated: done } = await translate(asker, words, { into: 'chinese' });
    return done ? result : null;
  } catch (error) {
    // The words themselves were found: they are worth having without it.
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** What is read out of an image at once, without a job: it costs nothing. */
export const createAnalysisService = (deps: AnalysisDeps) => {
  const limitPerson = createPersonLimit(looksAMinute, 'looks at images');
  return {
    /** What a controlnet module sees in an image, as a data URL. */
    async detect(db: Executor, input: Parsed<'controlnetDetect'>, user: Identity): Promise<string> {
      if (input.controlnet_module.trim() === '')
        throw new Refusal('bad_input', 'controlnet_module：请选择构图控制模型');
      await limitPerson(user.id);
      const model = await deps.models.findImage(db, input.model);
      if (!model) throw new Refusal('model_unavailable');
      await requireUsable(db, model, user);
      const channels = await channelsOf(deps, db, model.name, 'controlnet', user);
      if (channels.length === 0) throw new Refusal('job_unsuitable');
      const signal = AbortSignal.timeout(lookMs);
      const image = await fetched(deps, input.controlnet_image_url, signal, user);
      const png = await ask(channels, ({ engine }) =>
        engine.detect(
          {
            image,
            module: input.controlnet_module,
            parameters: input.controlnet_parameters ?? {},
          },
          signal,
        ),
      );
      return `data:image/png;base64,${png.toString('base64')}`;
    },

    /**
     * Words for an image: an own one by its number, or any by its address.
     * @param offered the models, by their names, that whoever asks may use of the person's
     */
    async interrogate(
      db: Executor,
      input: Parsed<'interrogateImage'>,
      user: Identity,
      offered: (name: string) => boolean = () => true,
    ) {
      await limitPerson(user.id);
      let url = input.image_url ?? '';
      if (input.image_id !== undefined) {
        const image = await requireImage(db, input.image_id, user, 'see');
        if (image.deletedAt !== null) throw new Refusal('not_found', '图片已删除');
        url = imageAddress(image);
      }
      if (url === '') throw new Refusal('bad_input', 'image_url：请选择图片');
      const signal = AbortSignal.timeout(lookMs);
      const lookers = await lookersFor(deps, db, input.model, user, offered);
      if (lookers.length === 0) throw new Refusal('job_unsuitable', '没有能看图的绘画服务');
      const image = await fetched(deps, url, signal, user);
      const way = input.model === 'DeepBooru' ? 'DeepBooru' : 'clip';
      const { words, engine } = await ask(lookers, async (channel) => ({
        words: await channel.engine.interrogate({ image, model: way }, signal),
        engine: channel.model,
      }));
      const result = { result: words.text, result_cn: words.chinese, engine, translated: false };
      if (words.chinese !== '') return result;
      const chinese = input.chinese === 1 ? await translated(deps, words.text, user) : null;
      return chinese === null ? result : { ...result, result_cn: chinese, translated: true };
    },
  };
};
