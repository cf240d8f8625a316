import type { Out } from '../../../contract/calls.ts';
import { priceOfName } from './chat-price-by-name.ts';
import { mediaOfferOf } from './media-models.ts';

type Preset = Out<'channelPresets'>['list'][number];

const openAi = (
  key: string,
  label: string,
  baseUrl: string,
  keyUrl: string,
  models: readonly string[],
): Preset => ({
  key,
  label,
  kind: 'openai-compatible',
  base_url: baseUrl,
  key_url: keyUrl,
  needs_key: keyUrl !== '',
  models: models.map((name) => ({
    name,
    factor: keyUrl === '' ? 0 : (mediaOfferOf(name) ?? priceOfName(name)).factor,
  })),
});

/** Well-known services: what to fill in, so that a key is all that is left to enter. */
export const channelPresets: readonly Preset[] = [
  openAi(
    'deepseek',
    'DeepSeek',
    'https://api.deepseek.com/v1',
    'https://platform.deepseek.com/api_keys',
    ['deepseek-chat', 'deepseek-reasoner'],
  ),
  openAi(
    'qwen',
    '通义千问',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://bailian.console.aliyun.com/',
    ['qwen-turbo', 'qwen-plus', 'qwen-max', 'qwen-vl-plus'],
  ),
  openAi(
    'kimi',
    'Kimi（月之暗面）',
    'https://api.moonshot.cn/v1',
    'https://platform.moonshot.cn/console/api-keys',
    ['kimi-latest', 'moonshot-v1-8k', 'moonshot-v1-32k'],
  ),
  openAi(
    'glm',
    '智谱 GLM',
    'https://open.bigmodel.cn/api/paas/v4',
    'https://open.bigmodel.cn/usercenter/apikeys',
    ['glm-4-flash', 'glm-4-air', 'glm-4-plus', 'glm-4v-flash'],
  ),
  openAi(
    'doubao',
    '豆包（火山方舟）',
    'https://ark.cn-beijing.volces.com/api/v3',
    'https://console.volcengine.com/ark',
    ['doubao-seed-1-6-250615', 'doubao-seed-1-6-flash-250615'],
  ),
  openAi('openai', 'OpenAI', 'https://api.openai.com/v1', 'https://platform.openai.com/api-keys', [
    'gpt-4o-mini',
    'gpt-4o',
    'gpt-4.1-mini',
    'gpt-4.1',
  ]),
  {
    ...openAi(
      'gemini',
      'Google Gemini',
      'https://generativelanguage.googleapis.com/v1beta',
      'https://aistudio.google.com/apikey',
      ['gemini-2.5-flash', 'gemini-2.5-pro'],
    ),
    kind: 'gemini',
  },
  {
    ...openAi(
      'claude',
      'Anthropic Claude',
      'https://api.anthropic.com/v1',
      'https://console.anthropic.com/settings/keys',
      ['claude-haiku-4-5', 'claude-sonnet-4-5'],
    ),
    kind: 'anthropic',
  },
  openAi('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/keys', [
    'deepseek/deepseek-chat',
    'openai/gpt-4o-mini',
  ]),
  openAi(
    'siliconflow',
    '硅基流动',
    'https://api.siliconflow.cn/v1',
    'https://cloud.siliconflow.cn/account/ak',
    ['deepseek-ai/DeepSeek-V3', 'Qwen/Qwen2.5-7B-Instruct'],
  ),
  openAi('ollama', 'Ollama（本机）', 'http://127.0.0.1:11434/v1', '', []),
  openAi('lmstudio', 'LM Studio（本机）', 'http://127.0.0.1:1234/v1', '', []),
  openAi('other', '其他 OpenAI 兼容服务', '', '', []),
  openAi(
    'speech',
    '语音（OpenAI 朗读与识别）',
    'https://api.openai.com/v1',
    'https://platform.openai.com/api-keys',
    ['gpt-4o-mini-tts', 'gpt-4o-mini-transcribe'],
  ),
  openAi(
    'video',
    '视频（OpenAI videos）',
    'https://api.openai.com/v1',
    'https://platform.openai.com/api-keys',
    ['sora-2'],
  ),
  {
    key: 'webui',
    label: 'stable-diffusion-webui',
    kind: 'stable-diffusion-webui',
    base_url: 'http://127.0.0.1:7860',
    key_url: '',
    needs_key: false,
    models: [],
  },
  {
    key: 'stability',
    label: 'Stability（视频）',
    kind: 'stability',
    base_url: 'https://api.stability.ai',
    key_url: 'https://platform.stability.ai/account/keys',
    needs_key: true,
    models: [],
  },
  {
    key: 'midjourney',
    label: 'Midjourney 代理',
    kind: 'midjourney',
    base_url: '',
    key_url: '',
    needs_key: false,
    models: [],
  },
  {
    key: 'embedding',
    label: '向量服务（知识库）',
    kind: 'embedding',
    base_url: 'https://api.siliconflow.cn/v1',
    key_url: 'https://cloud.siliconflow.cn/account/ak',
    needs_key: false,
    models: [{ name: 'BAAI/bge-m3', factor: 0 }],
  },
  {
    key: 'replicate',
    label: 'Replicate（训练画风）',
    kind: 'replicate',
    base_url: 'https://api.replicate.com/v1',
    key_url: 'https://replicate.com/account/api-tokens',
    needs_key: true,
    models: [],
  },
];
