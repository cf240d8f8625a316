import type { Handlers } from '#server/http/handlers.ts';
import type { AuthService } from '../auth/auth.service.ts';
import type { FileService } from '../file/file.service.ts';
import type { ModelService } from '../model/model.service.ts';
import { createVideoService, listVideos } from './video.service.ts';

export const createVideoHandlers = (deps: {
  models: ModelService;
  files: FileService;
  auth: Pick<AuthService, 'userView'>;
}): Pick<Handlers, 'generateVideo' | 'videoIndex'> => {
  const service = createVideoService(deps);
  return {
    generateVideo: async (input, { db, user }) => ({
      job: await service.generate(db, input, user),
      videos: [],
    }),

    videoIndex: async (input, { db, user }) => {
      const list = await listVideos(db, input, user);
      const userinfo = user && (await deps.auth.userView(db, user.id));
      return { ...list, userinfo, vip: userinfo?.vip ?? 0 };
    },
  };
};
