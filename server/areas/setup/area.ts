import type { Area } from '#server/area.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { createSetup } from './setup.service.ts';

export const setupArea = () =>
  ({
    serve: (host) => {
      const setup = createSetup(host);
      return {
        setupEnter: (input, context) => setup.enter(input, context),
        setupState: (_input, { db }) => setup.state(db),
        saveSetup: (input, context) => setup.save(input, context),
        setupPassword: (input, context) => setup.changePassword(input, context),
        checkSite: async ({ part }) => {
          const list = await setup.check(part);
          return () => Promise.resolve({ list });
        },
      } satisfies Partial<Handlers>;
    },
  }) satisfies Area;
