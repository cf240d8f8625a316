import * as z from 'zod/mini';
import { call, listOf, page, text } from './call.ts';

/** A template for questions; `{{input}}` in its prompt stands for the question. */
export const scenarioBrief = z.object({ id: z.int(), name: z.string(), prompt: z.string() });

export const scenario = z.extend(scenarioBrief, {
  color: z.string(),
  desc_: z.string(),
  category: z.int(),
  session_count: z.int(),
});

export const scenarioCalls = {
  scenarioCategory: call({
    method: 'GET',
    path: '/api/scenario_category',
    access: 'public',
    summary: '场景分类',
    input: z.object({}),
    output: z.object({ list: z.array(z.object({ id: z.int(), name: z.string() })) }),
  }),
  scenarioList: call({
    method: 'GET',
    path: '/api/scenario_list',
    access: 'public',
    summary: '场景：提问的模板',
    input: z.object({
      page,
      query: z.optional(text(100)),
      category: z.optional(text(16)),
    }),
    output: z.object(listOf(scenario)),
  }),
};
