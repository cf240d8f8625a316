/**
 * Makers of services whose OpenAI-like words have ways of their own; a channel's maker is chosen by
 * its manager, or told by its address.
 */
export const makers = [
  'openai',
  'azure',
  'deepseek',
  'qwen',
  'glm',
  'kimi',
  'doubao',
  'qianfan',
  'hunyuan',
  'minimax',
  'siliconflow',
  'openrouter',
  'new-api',
  'ollama',
  'vllm',
] as const;
export type Maker = (typeof makers)[number];
