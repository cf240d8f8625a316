import { modelTypes } from '#contract/kinds.ts';
import { sessionTypes } from '#contract/kinds.ts';
import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { ModelService } from '../model/model.service.ts';
import type { ResolvedModel } from '../model/resolved-model.ts';
import { type Asker, isUsable, requireUsable } from '../model/usable.ts';
import type { SessionServiceDeps } from './session-deps.ts';

type Deps = Pick<SessionServiceDeps, 'models' | 'requireTrained'>;
type Usable = Pick<ResolvedModel, 'name' | 'factor' | 'paidOnly' | 'managersOnly' | 'openTo'>;

/** The models that a type of session may have. */
interface Shelf {
  find: (name: string) => Promise<Usable | null>;
  /** A model of another kind: naming one is as if none were named (document 2 §4). */
  isOther: (name: string) => Promise<boolean>;
  /** For whoever names none. */
  usual: () => Promise<Usable | null>;
}

const shelfFor = (models: ModelService, db: Executor, type: number, asker: Asker): Shelf => {
  const isChat = async (name: string) => (await models.find(db, name, asker)) !== null;
  if (type === sessionTypes.image)
    return {
      find: (name) => models.findImage(db, name),
      isOther: isChat,
      usual: () => models.defaultImageModel(db, asker),
    };
  if (type === sessionTypes.video)
    return {
      find: (name) => models.findMedia(db, modelTypes.video, name),
      isOther: async (name) => (await isChat(name)) || (await models.findImage(db, name)) !== null,
      usual: () => models.defaultMedia(db, modelTypes.video, asker),
    };
  return {
    find: (name) => models.find(db, name, asker),
    isOther: () => Promise.resolve(false),
    usual: () => models.defaultModel(db, asker),
  };
};

/**
 * The name of the model for a session of this type: the one named, else the one the person prefers
 * where it exists and they may use it, else the usual one.
 * @throws Refusal model_unavailable, training_unfinished, login_required, paid_only
 */
export const modelFor = async (
  { models, requireTrained }: Deps,
  db: Executor,
  type: number,
  { name, preferred, asker }: { name?: string; preferred?: string | undefined; asker: Asker },
): Promise<string> => {
  const { find, isOther, usual } = shelfFor(models, db, type, asker);
  if (name !== undefined) {
    const named = await find(name);
    if (named) {
      await requireUsable(db, named, asker);
      return named.name;
    }
    if (!(await isOther(name))) {
      if (asker && type !== sessionTypes.video) await requireTrained(db, [name], asker.id);
      throw new Refusal('model_unavailable');
    }
  }
  const wished = preferred === undefined ? null : await find(preferred);
  if (wished && (await isUsable(db, wished, asker))) return wished.name;
  const model = await usual();
  if (!model) throw new Refusal('model_unavailable');
  return model.name;
};
