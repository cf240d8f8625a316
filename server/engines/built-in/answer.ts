import type { HelpService } from '../../help/help.service.ts';
import type { ChatMessage } from '../chat-engine.ts';

export interface Surroundings {
  help: HelpService;
  now: Date;
}

/** The reply, as Markdown, to the last message of a conversation. */
export const answer = async (
  messages: readonly ChatMessage[],
  { help }: Surroundings,
): Promise<string> => {
  const question = messages.filter((message) => message.role === 'user').at(-1)?.content ?? '';
  const hit = help.search(question, 1)[0];
  return hit
    ? `${hit.item.text}\n\n—— 摘自帮助：[${hit.item.page.title}](/help?page=${hit.item.page.slug})`
    : '这个问题我答不上来。';
};
