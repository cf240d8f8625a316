import type { Area } from '../../area.ts';
import { createManageSessionHandlers } from './manage-session.handlers.ts';
import { createSessionHandlers, type SessionDeps } from './session.handlers.ts';
import { moveSessions, removeTemporary } from './session.service.ts';

export const sessionArea = ({ forum }: Pick<SessionDeps, 'forum'>) =>
  ({
    chores: [removeTemporary],
    takeOver: moveSessions,
    serve: ({ models, knowledge, auth, replies, files, cancelJobs }) => {
      const stopSession = async (sessionId: number) => {
        await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
      };
      return {
        ...createSessionHandlers({
          models,
          knowledge,
          forum,
          createGuest: auth.createGuest,
          stopSession,
        }),
        ...createManageSessionHandlers({ files, stopSession }),
      };
    },
  }) satisfies Area;
