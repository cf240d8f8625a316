import type { Area } from '#server/area.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { createSetup } from './setup.service.ts';

export const setupArea = () =>
  ({
    serve: ({ settings, auth }) => {
      const setup = createSetup(settings, auth);
      return {
        setupEnter: (input, context) => setup.enter(input, context),
        setupState: (_input, { db }) => setup.state(db),
        saveSetup: (input, context) => setup.save(input, context),
        setupPassword: (input, context) => setup.changePassword(input, context),
        checkAddress: async () => {
          const found = await setup.address();
          return () => Promise.resolve(found);
        },
      } satisfies Partial<Handlers>;
    },
  }) satisfies Area;
