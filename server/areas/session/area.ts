import type { Area } from '#server/area.ts';
import { createManageSessionHandlers } from './manage-session.handlers.ts';
import { createSessionHandlers, type SessionDeps } from './session.handlers.ts';
import { moveSessions, removeTemporary } from './session.service.ts';

export const sessionArea = (given: Pick<SessionDeps, 'forum' | 'requireTrained'>) =>
  ({
    holds: [
      {
        table: 'friends',
        of: ['low_user_id', 'high_user_id', 'asked_by'],
        end: { keep: 'the talk is the other person’s, too; what the one who left said is gone' },
      },
      { table: 'pins', of: ['user_id'], end: 'delete' },
      {
        table: 'sessions',
        of: ['user_id'],
        // Of a talk with others nothing of the newest message may stay in its title and summary.
        where: `id IN (SELECT id FROM sessions WHERE user_id = $person
          UNION SELECT session_id FROM history WHERE user_id = $person)`,
        end: {
          set: {
            prompt: `CASE WHEN user_id = $person THEN '' ELSE prompt END`,
            summary: `''`,
            embedding_key: `CASE WHEN user_id = $person THEN '' ELSE embedding_key END`,
            more_embeddings: `CASE WHEN user_id = $person THEN '{}' ELSE more_embeddings END`,
            style_key: `''`,
          },
        },
      },
    ],
    chores: [removeTemporary],
    takeOver: moveSessions,
    serve: ({ models, knowledge, auth, replies, files, cancelJobs, disk }) => {
      const stopSession = async (sessionId: number) => {
        await Promise.all([replies.stopSession(sessionId), cancelJobs({ sessionId })]);
      };
      return {
        ...createSessionHandlers({
          ...given,
          requireDisk: disk.require,
          models,
          knowledge,
          createGuest: auth.createGuest,
          stopSession,
        }),
        ...createManageSessionHandlers({ files, stopSession }),
      };
    },
  }) satisfies Area;
