import * as z from 'zod/mini';
import { call } from './call.ts';

export const systemCalls = {
  health: call({
    method: 'GET',
    path: '/api/health',
    access: 'public',
    summary: '服务器与数据库是否就绪',
    input: z.object({}),
    output: z.object({ ready: z.boolean(), version: z.string() }),
    codes: [],
  }),
};
