import * as z from 'zod/mini';
import { open, text, uuid, wholeNumber } from './call.ts';
import { source } from './embedding.ts';
import { strictImageParameters } from './image.ts';
import {
  chatFields,
  completionFields,
  countFields,
  embeddingFields,
  imageEditFields,
  imageFields,
  imageVariationFields,
  inputOf,
  messageFields,
  moderationFields,
  rerankFields,
  responseFields,
  speechFields,
  transcriptionFields,
  translationFields,
} from './open-fields.ts';
import { listPage } from './open-page.ts';

/** The public API: what programs call with an API key. */

const megabyte = 1024 * 1024;
/** Keys, texts and lists of a long conversation with its tools. */
const longTalk = 150_000;
const model = text(200).check(z.minLength(1));

const tokenUsage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});

const modelRow = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
});

/** The same as Anthropic has it, for who sends `anthropic-version`. */
const anthropicModelRow = z.looseObject({
  id: z.string(),
  type: z.literal('model'),
  display_name: z.string(),
  created_at: z.string(),
});
const modelPage = {
  first_id: z.nullable(z.string()),
  last_id: z.nullable(z.string()),
  has_more: z.boolean(),
};

const openAiImages = z.looseObject({
  created: z.int(),
  data: z.array(z.looseObject({ b64_json: z.optional(z.string()), url: z.optional(z.string()) })),
});

const imageSize = text(20);

/** An image to work on: an address of the web, or its bytes in base64 (a data URL, too). */
const image = {
  image_url: z.optional(text(2000)),
  image_base64: z.optional(z.string()),
  model: z.optional(model),
};

const done = { result: z.literal(true) };
const requested = z.object({ ...done, request_id: z.string() });
export const openApiCalls = {
  chatCompletions: open({
    method: 'POST',
    path: '/v1/chat/completions',
    wire: 'openai',
    summary: '对话：与 OpenAI 的一样；不认识的字段会指名拒绝',
    maxBytes: 20 * megabyte,
    maxParts: longTalk,
    input: inputOf(chatFields),
    output: z.looseObject({
      id: z.string(),
      choices: z.array(z.looseObject({ index: z.int() })),
      usage: z.optional(z.nullable(tokenUsage)),
    }),
  }),
  createResponse: open({
    method: 'POST',
    path: '/v1/responses',
    wire: 'openai',
    summary: '对话，用 OpenAI 的 Responses 写法',
    maxBytes: 20 * megabyte,
    maxParts: longTalk,
    input: inputOf(responseFields),
    output: z.looseObject({
      id: z.string(),
      object: z.literal('response'),
      output: z.array(z.looseObject({ type: z.string() })),
    }),
  }),
  storedResponse: open({
    method: 'GET',
    path: '/v1/responses/*',
    wire: 'openai',
    summary: '保存着的回答，30 天内，只有做出它的 KEY 能看；后面加 /input_items 是问它的话',
    input: z.strictObject({ response_id: text(120), ...listPage }),
    output: z.looseObject({ object: z.enum(['response', 'list']) }),
  }),
  deleteResponse: open({
    method: 'DELETE',
    path: '/v1/responses/*',
    wire: 'openai',
    summary: '删除保存着的回答',
    input: z.strictObject({ response_id: text(100) }),
    output: z.object({
      id: z.string(),
      object: z.literal('response.deleted'),
      deleted: z.literal(true),
    }),
  }),
  createMessage: open({
    method: 'POST',
    path: '/v1/messages',
    wire: 'anthropic',
    summary: '对话，用 Anthropic 的 Messages 写法；密钥也可以放在请求头 x-api-key 里',
    maxBytes: 20 * megabyte,
    maxParts: longTalk,
    input: inputOf(messageFields),
    output: z.looseObject({
      id: z.string(),
      type: z.literal('message'),
      role: z.literal('assistant'),
      content: z.array(z.looseObject({ type: z.string() })),
      stop_reason: z.string(),
      usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
    }),
  }),
  countMessageTokens: open({
    method: 'POST',
    path: '/v1/messages/count_tokens',
    wire: 'anthropic',
    summary: '一次 Messages 请求有多少 token，按本站的数法；不收费',
    maxBytes: 20 * megabyte,
    maxParts: longTalk,
    input: inputOf(countFields),
    output: z.object({ input_tokens: z.int() }),
  }),
  createCompletion: open({
    method: 'POST',
    path: '/v1/completions',
    wire: 'openai',
    summary: '接着一段文字写下去，用 OpenAI 早先的写法',
    maxBytes: 20 * megabyte,
    input: inputOf(completionFields),
    output: z.looseObject({
      id: z.string(),
      object: z.literal('text_completion'),
      choices: z.array(z.looseObject({ index: z.int(), text: z.string() })),
      usage: z.optional(z.nullable(tokenUsage)),
    }),
  }),
  createModeration: open({
    method: 'POST',
    path: '/v1/moderations',
    wire: 'openai',
    summary: '文字里有没有本站屏蔽的词；不收费',
    maxBytes: megabyte,
    input: inputOf(moderationFields),
    output: z.object({
      id: z.string(),
      model: z.string(),
      results: z.array(
        z.object({
          flagged: z.boolean(),
          categories: z.object({ blocked_words: z.boolean() }),
          category_scores: z.object({ blocked_words: z.number() }),
          category_applied_input_types: z.object({ blocked_words: z.array(z.string()) }),
        }),
      ),
    }),
  }),
  createRerank: open({
    method: 'POST',
    path: '/v1/rerank',
    wire: 'openai',
    summary: '按与问题的远近给资料排序，用一个向量模型',
    maxBytes: 4 * megabyte,
    input: inputOf(rerankFields),
    output: z.object({
      id: z.string(),
      model: z.string(),
      results: z.array(
        z.object({
          index: z.int(),
          relevance_score: z.number(),
          document: z.optional(z.object({ text: z.string() })),
        }),
      ),
      usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
    }),
  }),
  createEmbeddings: open({
    method: 'POST',
    path: '/v1/embeddings',
    wire: 'openai',
    summary: '文本的向量',
    maxBytes: 4 * megabyte,
    maxParts: 350_000,
    input: inputOf(embeddingFields),
    output: z.looseObject({
      object: z.literal('list'),
      data: z.array(z.looseObject({ index: z.int() })),
      model: z.string(),
    }),
  }),
  generateApiImages: open({
    method: 'POST',
    path: '/v1/images/generations',
    wire: 'openai',
    summary: '画图，等到画完',
    input: inputOf(imageFields),
    output: openAiImages,
  }),
  editApiImages: open({
    method: 'POST',
    path: '/v1/images/edits',
    wire: 'openai',
    summary: '照着图片画，或重绘遮罩里透明的部分',
    maxBytes: 10 * megabyte,
    files: ['image', 'image[]', 'mask'],
    input: inputOf(imageEditFields),
    output: openAiImages,
  }),
  varyApiImages: open({
    method: 'POST',
    path: '/v1/images/variations',
    wire: 'openai',
    summary: '照着图片画相似的',
    maxBytes: 10 * megabyte,
    files: ['image'],
    input: inputOf(imageVariationFields),
    output: openAiImages,
  }),
  createSpeech: open({
    method: 'POST',
    path: '/v1/audio/speech',
    wire: 'openai',
    summary: '把文字读出来，回答是音频',
    input: inputOf(speechFields),
    output: z.string(),
  }),
  createTranscription: open({
    method: 'POST',
    path: '/v1/audio/transcriptions',
    wire: 'openai',
    summary: '把录音写成文字',
    maxBytes: 25 * megabyte,
    files: ['file'],
    input: inputOf(transcriptionFields),
    output: z.looseObject({ text: z.string() }),
  }),
  createTranslation: open({
    method: 'POST',
    path: '/v1/audio/translations',
    wire: 'openai',
    summary: '把录音写成文字并译成英文；听写和翻译分别计费',
    maxBytes: 25 * megabyte,
    files: ['file'],
    input: inputOf(translationFields),
    output: z.looseObject({ text: z.string() }),
  }),
  apiModels: open({
    method: 'GET',
    path: '/v1/models',
    wire: 'openai',
    summary:
      '这个 KEY 可以用的模型；带请求头 anthropic-version 时是 Anthropic 的格式，只有对话模型',
    input: z.strictObject({
      limit: z.optional(wholeNumber(1, 1000)),
      after_id: z.optional(model),
      before_id: z.optional(model),
    }),
    output: z.union([
      z.object({ object: z.literal('list'), data: z.array(modelRow), ...modelPage, ...done }),
      z.object({ data: z.array(anthropicModelRow), ...modelPage }),
    ]),
  }),
  apiModel: open({
    method: 'GET',
    path: '/v1/models/*',
    wire: 'openai',
    summary: '一个模型；带请求头 anthropic-version 时是 Anthropic 的格式',
    input: z.strictObject({ model }),
    output: z.union([modelRow, anthropicModelRow]),
  }),

  apiChat: open({
    method: 'POST',
    path: '/v1/chat',
    wire: 'plain',
    summary: '对话；stream 为 true 时逐段返回，出错时最后一段是数组 [code, message]',
    maxBytes: 20 * megabyte,
    maxParts: longTalk,
    input: inputOf(chatFields),
    output: z.object({
      ...done,
      model: z.string(),
      message: z.looseObject({ role: z.string() }),
      content: z.string(),
      reasoning: z.string(),
      finish_reason: z.string(),
      sources: z.optional(z.array(z.extend(source, { text: z.string() }))),
      usage: z.object({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        deduct_tokens: z.int(),
      }),
    }),
  }),
  apiImage: open({
    method: 'POST',
    path: '/v1/image',
    wire: 'plain',
    summary: '画图；立刻返回 request_id，用 progress 查询',
    input: z.strictObject({
      model: z.optional(model),
      prompt: text(32_000).check(z.minLength(1)),
      n: z.optional(wholeNumber(1, 10)),
      size: z.optional(z.union([wholeNumber(0, 20), imageSize])),
      parameters: z.optional(strictImageParameters),
    }),
    output: requested,
  }),
  apiProgress: open({
    method: 'GET',
    path: '/v1/progress',
    wire: 'plain',
    summary: '画图的进度和图片',
    input: z.strictObject({ request_id: uuid }),
    output: z.object({
      ...done,
      state: z.enum(['queued', 'running', 'done', 'error', 'cancelled']),
      progress: z.number(),
      images: z.array(
        z.object({
          url: z.string(),
          width: z.int(),
          height: z.int(),
          id: z.int(),
        }),
      ),
      code: z.int(),
      message: z.string(),
      deduct_tokens: z.int(),
    }),
  }),
  apiTranslate: open({
    method: 'POST',
    path: '/v1/translate',
    wire: 'plain',
    summary: '翻译成中文（zh）或英文（en）',
    input: z.strictObject({
      text: text(20_000).check(z.minLength(1)),
      to: z._default(z.enum(['zh', 'en']), 'zh'),
      model: z.optional(model),
    }),
    output: z.object({ ...done, text: z.string(), translated: z.boolean() }),
  }),
  apiInscriptor: open({
    method: 'POST',
    path: '/v1/inscriptor',
    wire: 'plain',
    summary: '把一句话扩写成画图的提示词',
    input: z.strictObject({ text: text(4000).check(z.minLength(1)) }),
    output: z.object({ ...done, text: z.string() }),
  }),
  apiInterrogate: open({
    method: 'POST',
    path: '/v1/interrogate',
    wire: 'plain',
    summary: '用文字说出图片里有什么',
    maxBytes: 15 * megabyte,
    input: z.strictObject({ ...image, clip: z._default(z.enum(['clip', 'DeepBooru']), 'clip') }),
    output: z.object({ ...done, text: z.string(), text_cn: z.string() }),
  }),
  apiUpscale: open({
    method: 'POST',
    path: '/v1/upscale',
    wire: 'plain',
    summary: '把图片高清放大到 2 或 4 倍；用 progress 查询',
    maxBytes: 15 * megabyte,
    input: z.strictObject({
      ...image,
      scale: z.optional(z.union([z.literal(2), z.literal(4)])),
      /** The same, as image/upscale calls it. */
      resize: z.optional(z.union([z.literal(2), z.literal(4)])),
    }),
    output: requested,
  }),
  apiRemoveBg: open({
    method: 'POST',
    path: '/v1/removeBg',
    wire: 'plain',
    summary: '去掉图片的背景；用 progress 查询',
    maxBytes: 15 * megabyte,
    input: z.strictObject(image),
    output: requested,
  }),
  apiEditBg: open({
    method: 'POST',
    path: '/v1/editBg',
    wire: 'plain',
    summary: '换掉图片的背景；用 progress 查询',
    maxBytes: 15 * megabyte,
    input: z.strictObject({
      ...image,
      bg_color: z.optional(text(7).check(z.regex(/^#[0-9a-fA-F]{6}$/))),
      bg_image: z.optional(text(2000)),
    }),
    output: requested,
  }),
  apiTranscribe: open({
    method: 'POST',
    path: '/v1/transcribe',
    wire: 'plain',
    summary: '把录音写成文字',
    maxBytes: 25 * megabyte,
    files: ['file'],
    input: z.strictObject({ model: z.optional(model), language: z.optional(text(20)) }),
    output: z.object({ ...done, text: z.string() }),
  }),
  apiSpeech: open({
    method: 'POST',
    path: '/v1/speech',
    wire: 'plain',
    summary: '把文字读出来，回答是音频',
    input: z.strictObject({
      text: text(20_000).check(z.minLength(1)),
      voice: z.optional(text(60)),
      speed: z.optional(z.number().check(z.gte(0.25), z.lte(4))),
      model: z.optional(model),
    }),
    output: z.string(),
  }),
  apiBalance: open({
    method: 'GET',
    path: '/v1/balance',
    wire: 'plain',
    summary: '余额和这个 KEY 本月还能用的 token',
    input: z.strictObject({}),
    output: z.object({
      ...done,
      balance: z.int(),
      month_used: z.int(),
      month_limit: z.nullable(z.int()),
    }),
  }),
};
