import { estimateUpTo } from '#contract/price.ts';
import { limits } from '#contract/limits.ts';
import type { OpenMessage } from '#contract/open-messages.ts';
import { asideOf, type ChatBody, withAside } from '#server/engines/chat-relay.ts';
import { lookAtMedia } from '#server/engines/media.ts';
import { countInThread } from '#server/engines/token-thread.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { OpenContext } from '#server/http/open-handlers.ts';
import type { FileService } from '../file/file.service.ts';

/** A request as it goes on: made anew from what is known of it, with everything that costs counted. */

type Json = Record<string, unknown>;

/** Tokens that a message costs beside its text, and at most a second of sound. */
const around = 4;
const secondOfSound = 32;
/** Images and recordings of one request. */
const mediaAtMost = 16;
/** Of them those whose words are read for a model that sees nothing: each takes seconds of a core. */
const readAtMost = 4;

export interface Asked {
  /** Tokens of what is no text. */
  beside: number;
  /** Those and the texts' own, guessed. */
  rough: number;
  /** The same by this server's own count, as a model of this name has it. */
  counted: (model: string) => Promise<number>;
}

/**
 * Counts what is asked while it is read: what has no room is read no further, and none of its images
 * are fetched.
 */
export class Tally implements Asked {
  readonly texts: string[] = [];
  beside = 0;
  rough = 0;
  readonly #room: number;
  readonly #tooLong: () => Refusal;
  #counted: Promise<number> | undefined;

  constructor(room: number, tooLong: () => Refusal) {
    this.#room = room;
    this.#tooLong = tooLong;
  }

  #add(tokens: number): void {
    this.rough += tokens;
    if (this.rough > this.#room) throw this.#tooLong();
  }

  /** Gives the text itself. @throws Refusal */
  text(text: string): string {
    this.texts.push(text);
    this.#add(estimateUpTo(text, this.#room - this.rough));
    return text;
  }

  counted(model: string): Promise<number> {
    return (this.#counted ??= countInThread(this.texts, model).then((counts) =>
      counts.reduce((sum, each) => sum + each, this.beside),
    ));
  }

  /** @throws Refusal */
  more(tokens: number): void {
    this.beside += tokens;
    this.#add(tokens);
  }
}

type Part = Exclude<OpenMessage['content'], string | null | undefined>[number];

const given = (fields: Json): Json =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  );

const callOf = ({ name, arguments: words }: { name: string; arguments: string }) => ({
  name,
  arguments: words,
});

/** Who asks, and until when it is worked on. */
type Asker = Pick<OpenContext, 'signal' | 'caller' | 'hold'>;
/** What is marked to be cached, where the service knows such marks. */
const cached = <T extends object>(value: T, mark: unknown): T =>
  mark ? withAside(value, { cache: true }) : value;

/** A request's tools as they go on: marks of a cache stand aside. */
export const toolsOf = (tools: readonly Json[]): Json[] =>
  tools.map(({ cache_control: mark, ...tool }) => cached(tool, mark));

export interface MessageReaderDeps {
  /** An image of the web, or inline, as a data URL; null where it cannot be had. */
  fetchImage: FileService['imageForModel'];
  /** What is written on such an image. */
  wordsOnImage: FileService['wordsOnImage'];
}

/**
 * Puts a request's messages in order; a model that does not see gets what is written on the images.
 * @throws Refusal bad_input, vision_missing, and the tally's own
 */
export const createMessageReader = (deps: MessageReaderDeps) => {
  const image = async (url: string, detail: string, asker: Asker): Promise<string> => {
    const { signal, caller } = asker;
    const asked = { signal, owner: caller.user };
    const data = await deps.fetchImage(url, detail === 'low' ? 'low' : 'high', asked);
    if (data !== null) {
      // What stood in the request is held with it.
      if (!url.startsWith('data:')) asker.hold(data.length);
      return data;
    }
    throw new Refusal(
      'bad_input',
      'messages：image_url 无法公开访问，或不是图片（可以用 data: 带上 jpg、png、webp、gif）',
    );
  };

  const secondsOf = async (data: string, { signal, caller }: Asker): Promise<number> => {
    const facts = await lookAtMedia(Buffer.from(data, 'base64'), signal, caller.user);
    if (!facts?.sound) throw new Refusal('bad_input', 'messages：input_audio 的录音无法读取');
    return facts.seconds;
  };

  const wordsOn = async (url: string, asker: Asker): Promise<string> => {
    const data = await image(url, 'high', asker);
    try {
      return await deps.wordsOnImage(data, asker.caller.user, asker.signal);
    } catch (error) {
      if (!(error instanceof Refusal) || error.codeName !== 'upload_unreadable') throw error;
      throw new Refusal(
        'vision_missing',
        `messages：这个模型看不了图片，图上的文字也没有读出来（${error.message}），请换一个能看图的模型`,
      );
    }
  };

  return async (
    messages: readonly OpenMessage[],
    tally: Tally,
    asker: Asker,
    { vision }: { vision: boolean },
  ): Promise<ChatBody['messages']> => {
    let media = 0;
    let words = 0;
    const count = (text: string): string => tally.text(text);
    const part = async (each: Part): Promise<Json> => {
      if (each.type === 'text')
        return cached({ type: 'text', text: count(each.text) }, each.cache_control);
      if (each.type === 'refusal') return { type: 'refusal', refusal: count(each.refusal) };
      media += 1;
      if (media > mediaAtMost)
        throw new Refusal('bad_input', `messages：图片和录音一共最多 ${mediaAtMost} 个`);
      if (each.type === 'input_audio') {
        const { data, format } = each.input_audio;
        tally.more(Math.ceil((await secondsOf(data, asker)) * secondOfSound));
        return { type: 'input_audio', input_audio: { data, format } };
      }
      const { url, detail } =
        typeof each.image_url === 'string' ? { url: each.image_url } : each.image_url;
      if (!vision) {
        words += 1;
        if (words > readAtMost)
          throw new Refusal(
            'bad_input',
            `messages：这个模型看不了图片，一次最多认出 ${readAtMost} 张图上的文字`,
          );
        return cached({ type: 'text', text: count(await wordsOn(url, asker)) }, each.cache_control);
      }
      tally.more(detail === 'low' ? limits.imageTokens.low : limits.imageTokens.high);
      const data = await image(url, detail ?? 'auto', asker);
      return cached(
        { type: 'image_url', image_url: given({ url: data, detail }) },
        each.cache_control,
      );
    };
    const content = async (value: OpenMessage['content']): Promise<unknown> => {
      if (value === null || value === undefined) return value;
      if (typeof value === 'string') return count(value);
      const parts = [];
      for (const each of value) parts.push(await part(each));
      return parts;
    };
    const message = async (each: OpenMessage): Promise<Json> => {
      tally.more(around);
      const { role } = each;
      const name = 'name' in each && each.name ? count(each.name) : undefined;
      const said = await content(each.content);
      const told = (fields: Json): Json =>
        withAside(given(fields), {
          ...asideOf(each),
          ...(each['cache_control'] ? { cache: true } : {}),
        });
      if (role === 'tool')
        return told({ role, content: said, tool_call_id: count(each.tool_call_id), name });
      if (role !== 'assistant') return told({ role, content: said, name });
      const calls = each.tool_calls?.map(({ id, function: called, extra_content: extra }) =>
        given({ id, type: 'function', function: callOf(called), extra_content: extra }),
      );
      const call = each.function_call ? callOf(each.function_call) : undefined;
      for (const more of [calls, call]) if (more) count(JSON.stringify(more));
      const blocks = each.thinking_blocks ?? asideOf(each).thinking ?? [];
      // Where the text itself goes along it is counted once.
      if (!each.reasoning_content) for (const block of blocks) count(JSON.stringify(block));
      const thought = { reasoning_content: each.reasoning_content, reasoning: each.reasoning };
      for (const more of [...Object.values(thought), each.refusal]) if (more) count(more);
      const answer = {
        role,
        // Services want to be told that nothing was said beside a call.
        content: said ?? (calls || call ? null : ''),
        ...given({
          name,
          refusal: each.refusal,
          ...thought,
          tool_calls: calls,
          function_call: call,
          prefix: each.prefix,
          partial: each.partial,
        }),
      };
      return blocks.length > 0 ? withAside(answer, { thinking: blocks }) : answer;
    };
    const ready: Json[] = [];
    for (const each of messages) ready.push(await message(each));
    return ready;
  };
};

export type MessageReader = ReturnType<typeof createMessageReader>;

/** Fields beside the messages whose words a model reads. */
const worded = ['tools', 'functions', 'response_format', 'chat_template_kwargs'];

export const wordsBeside = (fields: Json): string[] =>
  worded.filter((name) => fields[name] !== undefined).map((name) => JSON.stringify(fields[name]));

const numberIn = (value: unknown): number | null => (typeof value === 'number' ? value : null);

/** How long an answer may be, by the smaller of the two names for it; null: nothing is said. */
export const lengthIn = (fields: Json): number | null => {
  const said = [fields['max_tokens'], fields['max_completion_tokens']]
    .map(numberIn)
    .filter((each) => each !== null);
  return said.length > 0 ? Math.min(...said) : null;
};

/** Where the length of what is thought before an answer is told, and by which name. */
const budgets = [
  ['thinking', 'budget_tokens'],
  ['reasoning', 'max_tokens'],
  ['chat_template_kwargs', 'thinking_budget'],
] as const;

/**
 * The fields with all that bounds what is thought cut to so many tokens, and the largest of it: some
 * services count it beside the answer's length.
 */
export const withThinkingOf = (fields: Json, most: number): { fields: Json; budget: number } => {
  const cut: Json = { ...fields };
  let budget = 0;
  const bound = (value: number): number => {
    const bounded = Math.min(value, most);
    budget = Math.max(budget, bounded);
    return bounded;
  };
  // Who knows this switch knows the bound, too, and without it thinks as long as it likes.
  const own = numberIn(cut['thinking_budget']) ?? (cut['enable_thinking'] === true ? most : null);
  if (own !== null) cut['thinking_budget'] = bound(own);
  for (const [name, inner] of budgets) {
    const value = cut[name] as Json | undefined;
    const asked = numberIn(value?.[inner]);
    if (asked !== null) cut[name] = { ...value, [inner]: bound(asked) };
  }
  // Thinking that nobody bounds is at least held for: some services count it beside the answer, too.
  const { type } = (cut['thinking'] ?? {}) as Json;
  if (budget === 0 && typeof type === 'string' && type !== 'disabled') budget = most;
  return { fields: cut, budget };
};
