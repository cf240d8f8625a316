import { textOf } from '#common/chat-message.ts';
import { type ChatEngine, EngineError } from '../chat-engine.ts';
import { LlamaBusy, type LlamaProcess } from './llama-process.ts';

/** Tokens of a talk, its answer included, and of an answer where nobody says how long it may be. */
const bounds = { context: 4096, answer: 1536 } as const;
/** Characters that surely fit beside an answer: a Chinese one is about a token. */
const mostCharacters = bounds.context - bounds.answer;

/** Writes with models that lie on this machine. `fileOf` gives null for one that is not here. */
export const createLocalEngine = (deps: {
  llama: LlamaProcess;
  fileOf: (model: string) => Promise<string | null>;
}): ChatEngine => ({
  async write({ model, messages, temperature, maxTokens, signal }, take) {
    signal.throwIfAborted();
    const file = await deps.fileOf(model);
    if (file === null)
      throw new EngineError('upstream', `本机没有模型 ${model} 的文件`, { retriable: true });
    // They call no tools: what one gave in an earlier talk is told like any other text.
    const texts = messages.map(({ role, content }) => ({
      role: role === 'tool' ? ('user' as const) : role,
      text: textOf(content),
    }));
    const last = texts.pop();
    if (!last) throw new EngineError('upstream', '没有要回答的话', { retriable: false });
    let room = mostCharacters - last.text.length;
    if (room < 0)
      throw new EngineError('context_length_exceeded', '', {
        retriable: false,
        askerAtFault: true,
      });
    // The oldest is forgotten first; what the system says stays.
    const kept = texts.filter(({ role }) => role === 'system');
    for (const { text } of kept) room -= text.length;
    for (const each of texts.filter(({ role }) => role !== 'system').reverse()) {
      room -= each.text.length;
      if (room < 0) break;
      kept.splice(kept.filter(({ role }) => role === 'system').length, 0, each);
    }
    try {
      const { promptTokens, completionTokens } = await deps.llama.write(
        {
          file,
          context: bounds.context,
          messages: kept,
          prompt: last.text,
          temperature,
          maxTokens: Math.min(maxTokens ?? bounds.answer, bounds.answer),
        },
        signal,
        (part) => take([part]),
      );
      take([{ kind: 'usage', promptTokens, completionTokens }]);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof LlamaBusy)
        throw new EngineError('rate_limited', '本机模型一次回答一个人，排队的满了，请稍后再试', {
          retriable: true,
          cause,
        });
      throw new EngineError('upstream', '本机模型没有写成', { retriable: true, cause });
    }
  },
});
