import type { Area } from '../../area.ts';
import { createManageSessionHandlers } from './manage-session.handlers.ts';
import { createSessionHandlers } from './session.handlers.ts';
import { moveSessions, removeTemporary } from './session.service.ts';

export const sessionArea = () =>
  ({
    chores: [removeTemporary],
    takeOver: moveSessions,
    serve: ({ models, auth, replies, files, cancelJobs }) => {
      const stopSession = async (sessionId: number) => {
        await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
      };
      return {
        ...createSessionHandlers({ models, createGuest: auth.createGuest, stopSession }),
        ...createManageSessionHandlers({ files, stopSession }),
      };
    },
  }) satisfies Area;
