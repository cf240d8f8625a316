import { randomInt } from 'node:crypto';
import { familyRules } from '#contract/image-family.ts';
import type { ImageChoices, ImageEngine } from '../image-engine.ts';
import { ImageEngineError } from '../image-engine.ts';
import { profiles } from '#packages/canvas/profiles.ts';
import { unreadWords } from '#packages/canvas/words.ts';
import type { CanvasAnswer } from '#packages/canvas/task.ts';
import { workInThread } from './canvas-threads.ts';

/** The styles by the names that `parameters.style` takes. */
const choices: ImageChoices = {
  checkpoints: [],
  defaultCheckpoint: '',
  loras: profiles.map(({ key, label }) => ({ key, label })),
  styles: familyRules.builtIn.styles,
  samplers: [],
  upscalers: ['Lanczos'],
  controlTypes: [
    { type: 'Canny', label: '硬边缘', modules: ['canny'], models: [] },
    { type: 'Lineart', label: '线稿', modules: ['lineart'], models: [] },
    { type: 'SoftEdge', label: '软边缘', modules: ['softedge'], models: [] },
    { type: 'Scribble', label: '涂鸦', modules: ['scribble'], models: [] },
    { type: 'Tile', label: '分块', modules: ['tile'], models: [] },
  ],
};

const expect = <K extends CanvasAnswer['kind']>(
  answer: CanvasAnswer,
  kind: K,
): Extract<CanvasAnswer, { kind: K }> => {
  if (answer.kind !== kind)
    throw new ImageEngineError('engine_failed', '画板生成失败，请重试', { retriable: true });
  return answer as Extract<CanvasAnswer, { kind: K }>;
};

/**
 * The image engine that needs no service: it draws what it reads from the words, by rules and a
 * seed. `seconds`: how long one order takes at least, shown layer by layer.
 */
export const createBuiltInCanvas = ({ seconds }: { seconds: number }): ImageEngine => ({
  abilities: [
    'text-to-image',
    'image-to-image',
    'edit',
    'upscale',
    'interrogate',
    'remove-background',
    'edit-background',
    'controlnet',
    'negative-prompt',
    'seed',
    'lora',
  ],
  concurrency: 4,
  run: async (order, io) => {
    const seed = order.parameters.seed ?? randomInt(2 ** 32);
    const { task, prompt, n, width, height, parameters, strength, resizeMode } = order;
    const answer = await workInThread(
      {
        kind: 'make',
        order: {
          task,
          prompt,
          n,
          width,
          height,
          parameters,
          strength,
          resizeMode,
          seed,
          base: order.base,
          control: order.control,
          background: order.background,
          profiles: order.profiles ?? [],
        },
      },
      seconds,
      io.signal,
      io.progress,
    );
    return {
      images: expect(answer, 'made').images.map(({ data, seed }) => ({
        data: Buffer.from(data),
        error: '',
        seed,
      })),
      actions: [],
      revisedPrompt: '',
      unread: task === 'generate' || task === 'edit' ? unreadWords(prompt) : [],
      remote: null,
    };
  },
  choices: () => Promise.resolve(choices),
  detect: async ({ image, module, parameters }, signal) => {
    const answer = await workInThread({ kind: 'detect', image, module, parameters }, 0, signal);
    return Buffer.from(expect(answer, 'detected').data);
  },
  interrogate: async ({ image }, signal) => {
    const answer = await workInThread({ kind: 'interrogate', image }, 0, signal);
    const { text, chinese } = expect(answer, 'described');
    return { text, chinese };
  },
});
