import { bounds } from './bounds.ts';
import * as z from 'zod/mini';
import { call, flag, id, listOf, page, text, wholeNumber, personName } from './call.ts';
import { color, named } from './text-fields.ts';

/** A template for questions; `{{input}}` in its prompt stands for the question. */
export const scenarioBrief = z.object({ id: z.int(), name: z.string(), prompt: z.string() });

/** private: its maker's alone; pending: asked to be made public; public: offered to everybody. */
const scenarioState = z.enum(['private', 'pending', 'public']);

const scenario = z.extend(scenarioBrief, {
  color: z.string(),
  desc_: z.string(),
  category: z.int(),
  /** What it gives, Markdown; empty: nobody wrote it. */
  sample: z.string(),
  session_count: z.int(),
  /** Stars on average, 1 to 5; null: nobody gave any. */
  rating: z.nullable(z.number()),
  rating_count: z.int(),
  /** One's own; 0: none. */
  my_stars: z.int(),
  /** 1: it is offered. */
  display: z.int(),
  /** Who made it; null: it came with the program, or a manager made it. */
  user_id: z.nullable(z.int()),
  user_name: personName,
  state: scenarioState,
  /** Why a manager gave it back, for its maker and managers; empty: nobody did. */
  rejection: z.string(),
});

const written = {
  id: z.optional(id),
  name: named(bounds.scenario.name),
  prompt: named(bounds.scenario.prompt),
  desc_: z._default(text(bounds.scenario.description.max), ''),
  /** Left out: as it was. */
  sample: z.optional(text(bounds.scenario.sample.max)),
  color: z._default(color, '#2563eb'),
  category: id,
};

export const scenarioCalls = {
  scenarioCategory: call({
    method: 'GET',
    path: '/api/scenario_category',
    access: 'public',
    summary: '场景分类',
    input: z.object({}),
    output: z.object({
      list: z.array(z.object({ id: z.int(), name: z.string(), sort: z.int() })),
    }),
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
      /** mine: one's own; pending: what waits for a manager, all: also what is not offered (managers alone). */
      scope: z._default(z.enum(['public', 'mine', 'pending', 'all']), 'public'),
      /** hot: the most used first. */
      sort: z._default(z.enum(['hot', 'new']), 'hot'),
      page_size: z._default(wholeNumber(1, 50), 20),
    }),
    output: z.object(listOf(scenario)),
  }),
  saveScenario: call({
    method: 'POST',
    path: '/api/save_scenario',
    access: 'user',
    summary: '新建或修改自己的场景；publish 为 1 时提交给管理员，通过后大家都能用',
    input: z.object({ ...written, publish: z._default(flag, 0) }),
    output: z.object({ id: z.int() }),
    codes: ['words_blocked', 'phone_needed'],
    idempotent: true,
  }),
  rateScenario: call({
    method: 'POST',
    path: '/api/rate_scenario',
    access: 'user',
    summary: '给用过的场景评分；stars 为 0 时收回',
    input: z.object({ scenario_id: id, stars: wholeNumber(0, 5) }),
    output: z.object({}),
  }),
  delScenario: call({
    method: 'POST',
    path: '/api/del_scenario',
    access: 'user',
    summary: '删除自己的场景',
    input: z.object({ id }),
    output: z.object({}),
  }),
  manageScenario: call({
    method: 'POST',
    path: '/api/admin/save_scenario',
    access: 'manager',
    summary: '新建或修改任何场景',
    input: z.object({
      ...written,
      display: z._default(flag, 1),
      /** Of one that waits: public approves it, private gives it back. */
      state: z.optional(scenarioState),
      /** Why it is given back; its maker reads it. */
      reason: z.optional(text(bounds.order.reason.max)),
    }),
    output: z.object({ id: z.int() }),
    codes: ['words_blocked'],
    idempotent: true,
  }),
  removeScenario: call({
    method: 'POST',
    path: '/api/admin/del_scenario',
    access: 'manager',
    summary: '删除任何场景',
    input: z.object({ id }),
    output: z.object({}),
  }),
  saveScenarioCategory: call({
    method: 'POST',
    path: '/api/admin/save_scenario_category',
    access: 'manager',
    summary: '新建或修改场景分类',
    input: z.object({
      id: z.optional(id),
      name: named(bounds.scenario.category),
      sort: z._default(wholeNumber(bounds.sort.min, bounds.sort.max), 100),
    }),
    output: z.object({ id: z.int() }),
    idempotent: true,
  }),
  delScenarioCategory: call({
    method: 'POST',
    path: '/api/admin/del_scenario_category',
    access: 'manager',
    summary: '删除没有场景的分类',
    input: z.object({ id }),
    output: z.object({}),
  }),
};
