import { describe, expect, it } from 'vitest';
import { ApiError, openEnvelope, serverFaultText } from './api-error.ts';

const refusal = (status: number, body: unknown): ApiError => {
  try {
    openEnvelope(status, body);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('was not refused');
};

describe('openEnvelope', () => {
  it('gives what stands in data', () => {
    expect(openEnvelope(200, { code: 0, message: '', data: { id: 1 } })).toEqual({ id: 1 });
    expect(openEnvelope(200, { code: 0, message: '' })).toBeNull();
  });

  it('refuses a code above 0 with its message and data', () => {
    const data = { login_url: '/login' };
    expect(refusal(200, { code: 1001, message: '请先登录', data })).toMatchObject({
      code: 1001,
      message: '请先登录',
      status: 200,
      data,
    });
  });

  it('takes the words of a failed answer from msg or message', () => {
    expect(refusal(422, { code: 422, message: 'msg：不能为空', data: null })).toMatchObject({
      code: 422,
      message: 'msg：不能为空',
    });
    expect(refusal(500, { msg: '维护中' })).toMatchObject({ code: 500, message: '维护中' });
  });

  it('has words of its own for an answer that is none', () => {
    expect(refusal(502, undefined)).toMatchObject({ code: 502, message: serverFaultText });
    expect(refusal(200, '<html>')).toMatchObject({ code: 500, message: serverFaultText });
    expect(refusal(200, { data: 1 })).toMatchObject({ code: 500 });
  });
});
