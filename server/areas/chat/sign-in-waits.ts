import type { Host } from '#server/area.ts';
import type { Identity } from '#server/http/handlers.ts';
import { answerTool } from './consent.service.ts';
import { waitingAt } from './loop.store.ts';

/**
 * Somebody has signed in at a server of tools: their replies go on in which a call waited for that.
 * Gives the conversation of the latest; null: none went on.
 */
export const goOnSignedIn = async (
  { db, models, replies, log }: Pick<Host, 'db' | 'models' | 'replies' | 'log'>,
  { user, server }: { user: Identity; server: number },
): Promise<string | null> => {
  let latest: string | null = null;
  for (const { id, sessionUuid, tools } of await waitingAt(db, user.id, server)) {
    const calls = (tools ?? []).filter(
      ({ state, sign_in: at }) => state === 'asking' && at === server,
    );
    try {
      for (const call of calls) {
        const answer = {
          session_id: sessionUuid,
          history_id: id,
          call_id: call.id,
          answer: 'once' as const,
        };
        const { goesOn } = await answerTool(
          { models, owner: replies.instanceId },
          db,
          answer,
          user,
        );
        if (goesOn) setImmediate(() => replies.begin(...goesOn));
      }
      latest ??= sessionUuid;
    } catch (error) {
      // Its card goes on offering to try again.
      log.warn({ err: error, id }, 'a reply did not go on after a sign-in');
    }
  }
  return latest;
};
