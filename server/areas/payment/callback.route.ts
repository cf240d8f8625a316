import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderName } from '#contract/payment.ts';
import type { PaymentService } from './payment.service.ts';

const mostBytes = 64 * 1024;

/** What each service expects to hear. Anything but the good answer makes it send the notice again. */
const answers: Record<'wechat' | 'alipay', { good: [number, unknown]; bad: [number, unknown] }> = {
  wechat: {
    good: [200, { code: 'SUCCESS', message: '成功' }],
    bad: [401, { code: 'FAIL', message: '签名不对' }],
  },
  alipay: { good: [200, 'success'], bad: [400, 'failure'] },
};

/**
 * Where payment services send their notices: only those that are set up have an address. The body is
 * judged as it came; nothing in it is believed but the number of the order to ask about.
 */
export const registerNotices = (app: FastifyInstance, payments: PaymentService): void => {
  const serve =
    (name: 'wechat' | 'alipay') =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { good, bad } = answers[name];
      const say = ([status, text]: [number, unknown]) =>
        reply
          .code(status)
          .type(typeof text === 'string' ? 'text/plain' : 'application/json; charset=utf-8')
          .send(typeof text === 'string' ? text : JSON.stringify(text));
      const body = typeof request.body === 'string' ? request.body : '';
      let about: { number: string } | null = null;
      try {
        about =
          (await payments.provider(name)?.readNotice?.({ body, headers: request.headers })) ?? null;
      } catch (error) {
        request.log.warn({ err: error, provider: name }, 'a notice could not be read');
      }
      // No order has such a number, and the database takes none.
      if (!about || about.number.includes('\0')) return say(bad);
      try {
        await payments.noticed(name, about.number);
        return await say(good);
      } catch (error) {
        request.log.warn(
          { err: error, provider: name },
          'a notice came and its order is not settled',
        );
        return say([500, bad[1]]);
      }
    };
  const names: readonly Exclude<ProviderName, 'sandbox'>[] = ['wechat', 'alipay'];
  void app.register(async (scope) => {
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, body),
    );
    for (const name of names)
      if (payments.provider(name))
        scope.post(
          `/api/pay/${name}/notice`,
          { bodyLimit: mostBytes, config: { textBody: true } },
          serve(name),
        );
  });
};
