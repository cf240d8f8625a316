import * as z from 'zod/mini';
import { text } from './call.ts';

/**
 * The messages and tools of the public API, in the shapes that are known. Whatever else a request
 * carries there is refused: nothing goes to a service that nobody counted.
 */

const maybe = <T extends z.ZodMiniType>(schema: T) => z.optional(z.nullable(schema));

/** An image as data, or its address in the web, which this server fetches. */
const imageAddress = z.string().check(
  z.regex(/^(?:https?:\/\/|data:image\/(?:png|jpe?g|webp|gif);base64,)/i, {
    error: '应为 http(s) 网址，或 data:image/…;base64, 的图片',
  }),
);
const detail = maybe(z.enum(['auto', 'low', 'high']));

/** Marks of a cache are known and say nothing here. */
const cacheMark = z.optional(z.unknown());

const textPart = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheMark,
});
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.union([imageAddress, z.strictObject({ url: imageAddress, detail })]),
  cache_control: cacheMark,
});
const sound = z.strictObject({
  data: z.string().check(z.regex(/^[A-Za-z0-9+/=\s]+$/, { error: '应为 base64 的录音' })),
  format: z.enum(['wav', 'mp3']),
});
const soundPart = z.strictObject({ type: z.literal('input_audio'), input_audio: sound });
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });

const contentOf = <T extends z.ZodMiniType>(part: T) =>
  z.union([z.string(), z.array(part).check(z.maxLength(2000))]);

const written = contentOf(textPart);
const asked = contentOf(z.discriminatedUnion('type', [textPart, imagePart, soundPart]));
const answered = contentOf(z.discriminatedUnion('type', [textPart, refusalPart]));

const named = { name: maybe(text(200)), cache_control: cacheMark };

const functionCall = z.looseObject({ name: text(200), arguments: z.string() });
const toolCall = z.looseObject({
  id: maybe(text(500)),
  type: maybe(z.literal('function')),
  function: functionCall,
  /** Gemini wants its signature back. */
  extra_content: maybe(
    z.strictObject({ google: z.strictObject({ thought_signature: z.string() }) }),
  ),
});

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: written, ...named }),
  z.strictObject({ role: z.literal('developer'), content: written, ...named }),
  z.strictObject({ role: z.literal('user'), content: asked, ...named }),
  z.strictObject({ role: z.literal('tool'), content: asked, tool_call_id: text(500), ...named }),
  z.strictObject({ role: z.literal('function'), content: maybe(written), ...named }),
  // An answer comes back as it was given, with what its service wrote beside it: that is left out.
  z.looseObject({
    role: z.literal('assistant'),
    content: maybe(answered),
    name: maybe(text(200)),
    refusal: maybe(z.string()),
    reasoning_content: maybe(z.string()),
    reasoning: maybe(z.string()),
    /** What was thought, as Anthropic's services signed it: they want it back. */
    thinking_blocks: maybe(
      z
        .array(
          z.union([
            z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
            z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
          ]),
        )
        .check(z.maxLength(200)),
    ),
    tool_calls: maybe(z.array(toolCall).check(z.maxLength(200))),
    function_call: maybe(functionCall),
    audio: maybe(z.undefined({ error: '本站不保存录音，请只带文字' })),
    /** Goes on writing where the message ends: DeepSeek's word and Moonshot's. */
    prefix: maybe(z.boolean()),
    partial: maybe(z.boolean()),
  }),
]);

export const messages = z.array(message).check(z.minLength(1), z.maxLength(2000));
export type OpenMessage = z.output<typeof message>;

/** Whether a schema names another by an address: a service might go and read it. */
const pointsOutside = (schema: unknown): boolean =>
  Array.isArray(schema)
    ? schema.some(pointsOutside)
    : typeof schema === 'object' &&
      schema !== null &&
      Object.entries(schema).some(([key, value]) =>
        /^\$(?:dynamic|recursive)?ref$/i.test(key) && typeof value === 'string'
          ? !value.startsWith('#')
          : pointsOutside(value),
      );

export const functionSchema = z
  .record(z.string(), z.unknown())
  .check(z.refine((value) => !pointsOutside(value), '$ref 只能指向同一个结构里（# 开头）'));

const description = maybe(z.string());
const functionShape = z.strictObject({
  name: text(200),
  description,
  parameters: maybe(functionSchema),
  strict: maybe(z.boolean()),
});
const onlyFunctions = '只支持 function；别的工具会由上游执行并加收费用';

export const tools = z
  .array(
    z.strictObject({
      type: z.literal('function', { error: onlyFunctions }),
      function: functionShape,
      cache_control: cacheMark,
    }),
  )
  .check(z.maxLength(200));
export const functions = z.array(functionShape).check(z.maxLength(200));

const functionName = z.strictObject({ name: text(200) });
export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function', { error: onlyFunctions }), function: functionName }),
]);
export const functionChoice = z.union([z.enum(['none', 'auto']), functionName]);

const schemaFormat = {
  name: text(200),
  description,
  schema: maybe(functionSchema),
  strict: maybe(z.boolean()),
};
export const responseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({ type: z.literal('json_schema'), json_schema: z.strictObject(schemaFormat) }),
]);

// ---- the same in the words of Responses ------------------------------------

const itemMarks = { id: maybe(text(500)), status: maybe(text(50)) };

const inputTextPart = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const inputImagePart = z.strictObject({
  type: z.literal('input_image'),
  image_url: imageAddress,
  detail,
  file_id: maybe(z.undefined({ error: '本站不保存文件，请用 image_url' })),
});
const inputPart = z.discriminatedUnion('type', [
  inputTextPart,
  textPart,
  inputImagePart,
  soundPart,
  z.looseObject({ type: z.literal('output_text'), text: z.string() }),
  refusalPart,
]);

const responseItem = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: contentOf(inputPart),
    phase: maybe(text(50)),
    ...itemMarks,
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: text(500),
    name: text(200),
    arguments: z.string(),
    ...itemMarks,
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: text(500),
    output: contentOf(inputTextPart),
    ...itemMarks,
  }),
  // What a model thought stays with it: no service takes it back in other words.
  z.looseObject({ type: z.literal('reasoning') }),
]);
export type ResponseItem = z.output<typeof responseItem>;

/** A message may come without its type. */
const typed = z.pipe(
  z.transform((item: unknown) =>
    typeof item === 'object' && item !== null && !('type' in item) && 'role' in item
      ? { ...item, type: 'message' }
      : item,
  ),
  responseItem,
);
export const responseInput = z.union([
  z.string(),
  z.array(typed).check(z.minLength(1), z.maxLength(2000)),
]);

export const responseTools = z
  .array(
    z.strictObject({
      type: z.literal('function', { error: onlyFunctions }),
      ...functionShape.shape,
    }),
  )
  .check(z.maxLength(200));
export const responseToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function', { error: onlyFunctions }), name: text(200) }),
]);
export const responseText = z.strictObject({
  format: maybe(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({ type: z.literal('json_schema'), ...schemaFormat }),
    ]),
  ),
  verbosity: maybe(z.enum(['low', 'medium', 'high'])),
});
