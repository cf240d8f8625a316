import type { FastifyReply, FastifyRequest } from 'fastify';

const uuidIn = /(?:^|; *)minor=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:;|$)/;
/** As long as browsers keep a cookie, seconds. */
const cookieSeconds = 400 * 86_400;

/** What a browser carries in which a minor's account was used; null: none was. */
export const deviceOf = ({ headers }: FastifyRequest): string | null =>
  uuidIn.exec(headers.cookie ?? '')?.[1] ?? null;

/** Has the browser carry it from now on. Pages cannot read it. */
export const carry = ({ protocol }: FastifyRequest, reply: FastifyReply, device: string): void => {
  const secure = protocol === 'https' ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `minor=${device}; Path=/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`,
  );
};
