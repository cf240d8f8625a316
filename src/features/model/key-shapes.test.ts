import { expect, test } from 'vitest';
import { presetOfKey } from './key-shapes.ts';

const letters = 'abcdefABCDEF0123456789abcdefABCDEF0123456789';

test('a key tells its maker by its form, where only one has that form', () => {
  const known = {
    [`sk-ant-api03-${letters}`]: 'claude',
    [`sk-or-v1-${letters}`]: 'openrouter',
    [`sk-proj-${letters}`]: 'openai',
    [`AIzaSy${letters}`]: 'gemini',
    [`gsk_${letters}`]: 'groq',
    [`bce-v3/ALTAK-${letters}`]: 'qianfan',
    '0123456789abcdef0123456789abcdef.AbCdEfGh12345678': 'glm',
    [`  sk-ant-api03-${letters}\nsk-ant-api03-second`]: 'claude',
  };
  for (const [key, preset] of Object.entries(known)) expect(presetOfKey(key)).toBe(preset);
  for (const key of ['', 'sk-', `sk-${letters}`, 'sk-ant-', letters, '你好'])
    expect(presetOfKey(key)).toBeUndefined();
});
