import { expect, test } from 'vitest';
import { callsTools, toolsTold } from '#common/tool-models.ts';
import { estimateTokens } from '#contract/price.ts';
import { createDraw } from '../image/draw-tool.ts';
import { addressesIn } from './read-page.ts';
import { createToolbox } from './toolbox.ts';

const knowledge = { list: () => Promise.resolve([]), tryOut: () => Promise.resolve([]) };
const none = () => Promise.reject(new Error('nothing is drawn here'));
const box = createToolbox({
  draw: createDraw({
    models: { defaultImageModel: none, findImage: none },
    files: { takeImages: none, requireRoom: none },
    jobs: { cancel: none },
  }),
  knowledge,
  fetch: () => Promise.resolve(null),
  services: { find: () => Promise.resolve(null) },
  servers: {
    offered: () => Promise.resolve([]),
    tool: () => {
      throw new Error('no server has tools here');
    },
  },
});

test('what tools cost with each question is what the page says ahead', () => {
  for (const [web, only] of [
    [false, false],
    [true, false],
    [true, true],
  ] as const) {
    const names = box.offered({ name: 'deepseek-chat', builtIn: false }, { web, only });
    const told = estimateTokens(JSON.stringify(box.specs(names)));
    expect(Math.abs(told - toolsTold(!only, web)) / told, String(told)).toBeLessThan(0.1);
  }
});

test('models are known by their names, with the names of services before them', () => {
  for (const name of [
    'gpt-4o-mini',
    'deepseek-reasoner',
    'Qwen/Qwen3-32B',
    'glm-4.5',
    'claude-3-opus',
  ])
    expect(callsTools(name), name).toBe(true);
  for (const name of ['mock-chat', 'gpt-4-vision-preview', 'llama2', 'qwen-mt-plus'])
    expect(callsTools(name), name).toBe(false);
});

test('addresses end where a sentence goes on', () => {
  expect(
    addressesIn('看 https://a.example/b?c=1。还有http://d.example，（https://e.example/f）'),
  ).toEqual(['https://a.example/b?c=1', 'http://d.example/', 'https://e.example/f']);
});
