import { isKnowledgeModel } from '#server/engines/embedding/model-names.ts';

/** What a model's name tells: whether one can chat with it, how to write it, its colour. */

const notForChat =
  /(^|[-_/.:])(tts|whisper|audio|realtime|transcribe|asr|speech|voice|image|images|dall-e|diffusion|flux|sd3|sdxl|wan|wanx|cogview|cogvideo|video|sora|veo|imagen|moderation|moderations|ocr|babbage|davinci|computer-use|omni-moderation|paraformer|cosyvoice|sensevoice|kolors|clip|jina|colbert)(?=$|[-_/.:\d])/i;
const anyEnding = /(^|[-_/.:])(?:sensevoice|cosyvoice)/i;
const instructOnly = /^gpt-3\.5-turbo-instruct/i;

/** Services list every kind of model they have; sessions are for those that write text. */
export const isChatModel = (name: string): boolean =>
  !isKnowledgeModel(name) &&
  !notForChat.test(name) &&
  !anyEnding.test(name) &&
  !instructOnly.test(name);

const lowCost = /(^|[-_/.:])(mini|nano|lite|flash|small|turbo|haiku|air|tiny)(?=$|[-_/.:\d])/i;
/** Cheaper models of a family come first where the service gives no order of its own. */
export const isLowCost = (name: string): boolean => lowCost.test(name);

const vision =
  /(^|[-_/.:])(?:[a-z\d.]*vl|[a-z]*vision|llava|bakllava|pixtral|moondream|minicpm-v|gpt-(?:4o|4\.\d|4-turbo|[5-9])|chatgpt-4o|o[134]|claude-(?:[3-9]|sonnet|opus|haiku)|gemini|gemma-?[3-9]|glm-\d(?:\.\d)?v|step-\w+v|grok-[4-9]|llama-?4|internvl[\d.]*)(?=$|[-_/.:]|\d)/i;
const blindAfterAll = /(^|[-_/.:])(?:o1-mini|o3-mini|o1-preview)(?=$|[-_/.:])/i;
/** Whether a model of this name is known to understand images. A manager can say otherwise. */
export const isVisionModel = (name: string): boolean =>
  vision.test(name) && !blindAfterAll.test(name);

const families: [RegExp, string][] = [
  [/^gpt(?=[-\d])/i, 'GPT'],
  [/^chatgpt/i, 'ChatGPT'],
  [/^deepseek/i, 'DeepSeek'],
  [/^qwen/i, 'Qwen'],
  [/^qwq/i, 'QwQ'],
  [/^glm/i, 'GLM'],
  [/^llama/i, 'Llama'],
  [/^codellama/i, 'CodeLlama'],
  [/^minimax/i, 'MiniMax'],
  [/^mistral/i, 'Mistral'],
  [/^mixtral/i, 'Mixtral'],
  [/^internlm/i, 'InternLM'],
  [/^phi/i, 'Phi'],
  [/^o(?=\d)/i, 'o'],
];

const capitalOf = (part: string): string =>
  /^(?:vl|moe)$/i.test(part) ? part.toUpperCase() : part.charAt(0).toUpperCase() + part.slice(1);

/** A name for people: `deepseek-chat` → `DeepSeek Chat`, `gpt-4o-mini` → `GPT-4o mini`. */
export const prettyLabel = (name: string): string => {
  const last =
    name
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? name;
  const [base = last, tag] = last.split(':');
  const ending = tag === undefined || tag === 'latest' ? '' : ` (${tag})`;
  const dalle = /^dall-?e-?(.*)$/i.exec(base);
  if (dalle) return `DALL-E ${dalle[1] ?? ''}`.trim() + ending;
  const family = families.find(([pattern]) => pattern.test(base));
  if (!family) {
    // Two digits side by side are one version.
    const words = base
      .replace(/(?<=[-_]\d)-(?=\d(?:[-_]|$))/g, '.')
      .split(/[-_]+/)
      .filter((part) => part !== '');
    const capital = words.map((part) => (/^[a-z][a-z\d]/.test(part) ? capitalOf(part) : part));
    return (capital.join(' ') || base) + ending;
  }
  const [pattern, written] = family;
  const rest = base.slice(pattern.exec(base)?.[0].length ?? 0);
  // GPT and GLM keep the hyphen before their number, as their makers write them.
  const joined =
    /^-?\d/.test(rest) && /^(GPT|GLM)$/.test(written)
      ? `${written}-${rest.replace(/^-/, '')}`
      : `${written}${rest}`;
  const [head = '', ...tail] = joined.split(/-(?=[a-z])/i);
  const words = tail.map((part) => (written === 'GPT' || written === 'o' ? part : capitalOf(part)));
  return [head, ...words].join(' ') + ending;
};

const colors = [
  '#2563eb',
  '#0f766e',
  '#7c3aed',
  '#be185d',
  '#b45309',
  '#15803d',
  '#0369a1',
  '#b91c1c',
  '#4338ca',
  '#a21caf',
  '#4d7c0f',
  '#0e7490',
];

/** The same name has the same colour everywhere and always. White text is readable on all of them. */
export const colorOf = (name: string): string => {
  let hash = 2_166_136_261;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619);
  return colors[(hash >>> 0) % colors.length] ?? '#2563eb';
};
