import * as z from 'zod/mini';
import { call, id, text, time } from './call.ts';

const factor = z.number().check(z.gte(0.01), z.lte(100));

const peopleGroup = z.object({
  id: z.int(),
  name: z.string(),
  /** Times each price. */
  factor: z.number(),
  people: z.int(),
  /** The channels that serve some groups alone, this one among them. */
  channels: z.array(z.object({ id: z.int(), label: z.string() })),
  created_at: time,
});
export type PeopleGroup = z.output<typeof peopleGroup>;

export const peopleGroupCalls = {
  peopleGroups: call({
    method: 'GET',
    path: '/api/admin/people_groups',
    access: 'manager',
    summary: '管理：用户组，及它们的价格倍率',
    input: z.object({}),
    output: z.object({ list: z.array(peopleGroup) }),
  }),
  savePeopleGroup: call({
    method: 'POST',
    path: '/api/admin/save_people_group',
    access: 'manager',
    summary: '管理：添加（没有 id）或更改一个用户组；组里有管理员时只有所有者可以改倍率',
    input: z.object({
      id: z.optional(id),
      name: text(40).check(z.minLength(1)),
      factor,
    }),
    output: z.object({ id: z.int() }),
    codes: ['manage_unsuitable'],
    idempotent: true,
  }),
  delPeopleGroup: call({
    method: 'POST',
    path: '/api/admin/del_people_group',
    access: 'manager',
    summary: '管理：删除一个用户组，组里的人回到原价；只给它的服务要先改',
    input: z.object({ id }),
    output: z.object({}),
    codes: ['manage_unsuitable'],
  }),
};
