import { responseFields } from '#contract/open-fields.ts';
import type { Database } from '#server/db/database.ts';
import type { OpenHandlers } from '#server/http/open-handlers.ts';
import type { ApiChat } from './chat.service.ts';
import { takeFields } from './fields.ts';
import { chatOf } from './responses.ts';
import { responseOf, responseStyle } from './responses-answer.ts';
import { createStoredResponses } from './stored-responses.ts';

/** Chats in the words of OpenAI's Responses, which may be kept and gone on from. */
export const createResponseApi = ({
  db,
  chat,
}: {
  db: Database;
  chat: ApiChat;
}): Pick<OpenHandlers, 'createResponse' | 'storedResponse' | 'deleteResponse'> => {
  const stored = createStoredResponses(db);
  return {
    async createResponse(input, context) {
      const passed = takeFields(context, responseFields, input, 'service');
      // What went before may be large: it is read for a model that there is.
      if (input.previous_response_id) await chat.requireModel(context, input.model);
      const body = chatOf(input, passed, await stored.before(input, context));
      const keep = (response: Record<string, unknown>) => stored.keep(input, response, context);
      if (input.stream) return chat.stream(context, body, responseStyle(input, keep));
      const { answer, counted } = await chat.whole(context, body);
      return { json: await keep(responseOf(input, answer, counted)) };
    },

    async storedResponse({ response_id: id, ...page }, context) {
      const [, of, items] = /^([^/]+)(\/input_items)$/.exec(id) ?? [];
      if (of === undefined || items === undefined)
        return { json: await stored.find(id, context.caller) };
      return { json: await stored.inputOf(of, page, context) };
    },

    async deleteResponse({ response_id: id }, { caller }) {
      await stored.remove(id, caller);
      return { json: { id, object: 'response.deleted', deleted: true } };
    },
  };
};
