import * as z from 'zod/mini';
import { call, flag, id, listOf, page, sortedBy, text, time, wholeNumber } from './call.ts';
import { sorts } from './sorts.ts';
import { projectName } from './train.ts';
import { trainLimits } from './train-limits.ts';

const trainProject = z.object({
  id: z.int(),
  name: z.string(),
  key: z.string(),
  /** 0 knowledge, 1 style, 2 translation, 3 packed translation. */
  type: z.int(),
  /** 0 in training or not trained yet, 1 trained, 2 failed, 3 packed. */
  status: z.int(),
  private: z.int(),
  desc: z.string(),
  token: z.int(),
  total_num: z.int(),
  over_num: z.int(),
  failed_num: z.int(),
  user_id: z.int(),
  user_name: z.string(),
  created_at: time,
  updated_at: time,
});
export type AdminTrainProject = z.output<typeof trainProject>;

export const manageTrainCalls = {
  adminTrainList: call({
    method: 'GET',
    path: '/api/admin/train_list',
    access: 'manager',
    summary: '管理：大家的训练与翻译项目，新的在前',
    input: z.object({
      page,
      page_size: z._default(wholeNumber(1, 100), 20),
      user_id: z.optional(id),
      unique_key: z.optional(text(trainLimits.key)),
      name: z.optional(text(100)),
      type: z.optional(wholeNumber(0, 3)),
      status: z.optional(wholeNumber(0, 3)),
      ...sortedBy(sorts.adminTrainList),
    }),
    output: z.object(listOf(trainProject)),
  }),
  setTrainProject: call({
    method: 'POST',
    path: '/api/admin/set_train',
    access: 'manager',
    summary: '管理：更改一个项目的名称、说明，或把它设为私有',
    input: z.object({
      id,
      name: z.optional(projectName),
      desc: z.optional(text(trainLimits.description)),
      private: z.optional(flag),
    }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
  delTrainProject: call({
    method: 'POST',
    path: '/api/admin/del_train',
    access: 'manager',
    summary: '管理：删除一个项目和它的文件，正在进行的训练随之停止',
    input: z.object({ id }),
    output: z.object({}),
  }),
};
