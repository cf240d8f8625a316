import type { Out } from '#contract/calls.ts';
import type { Executor } from '#server/db/database.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { createAddressLimit, createPersonLimit } from '#server/http/rate-limit.ts';
import { paidStanding } from '../payment/has-paid.ts';
import { metadata, previewOf } from './image-metadata.service.ts';
import { createHealth, keepStat } from './model-stat.service.ts';
import type { ModelService } from './model.service.ts';

/** Requests whose course one person's devices tell of in a minute; guests of an address 5 times as many. */
const reportsAMinute = 60;

export interface ModelDeps {
  models: ModelService;
  /** The styles that a person trained here, as the choices of a model. */
  ownStyles: (db: Executor, userId: number) => Promise<Out<'imageMetadata'>['loras']>;
}

export const createModelHandlers = ({ models, ownStyles }: ModelDeps) => {
  const health = createHealth();
  const limitPerson = createPersonLimit(reportsAMinute, 'reports');
  const limitAddress = createAddressLimit(reportsAMinute * 5, 'reports of an address');
  return {
    models: async (_input, { db, user }) => {
      const listed = (await models.catalogue(db, user)).filter(
        (model) => model.private === 0 || user?.manager,
      );
      const asks = user !== null && !user.guest && listed.some(({ locked }) => locked === 1);
      const paid = asks && (await paidStanding(db, user.id)).paid;
      return {
        models: paid ? listed.map((model) => ({ ...model, locked: 0 })) : listed,
        default_model: (await models.defaultModel(db, user)).name,
      };
    },

    modelHealth: async (_input, { db }) => ({ list: await health(db, models) }),

    modelStat: async (input, { db, user, ip }) => {
      await limitPerson(user.id);
      if (user.guest) await limitAddress(ip);
      await keepStat(db, models, input, user);
      return {};
    },

    imageMetadata: async ({ model }, { db, user }) => {
      const known = await metadata(db, models, model);
      const builtIn = (await models.findImage(db, model))?.builtIn === true;
      // Styles that were trained here are applied by what is built in.
      const own = builtIn && user ? await ownStyles(db, user.id) : [];
      return { ...known, loras: [...own, ...known.loras] };
    },

    promptParameter: async ({ model, prompt, parameters }, { db }) => ({
      result: await previewOf(db, models, { model, prompt, parameters: parameters ?? {} }),
    }),
  } satisfies Partial<Handlers>;
};
