import { createHash } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

const issuer = 'queqiao';
const audience = 'queqiao';
const type = 'at+jwt';
const algorithm = 'HS256';
/** The longest token that is worth a look; ours have some 300 characters. */
const maxLength = 1024;

/** How long a login lasts without being used, s. */
export const loginSeconds = 30 * 24 * 3600;
/** The age from which a token is answered with a fresh one, s. */
const refreshAfter = 24 * 3600;

export interface Claims {
  userId: number;
  jti: string;
  /** Old enough to be answered with a fresh one. */
  aging: boolean;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Makes and reads tokens signed with a key that is derived from the secret. */
export const createTokens = (secret: string) => {
  const key = createHash('sha256').update(`queqiao token ${secret}`).digest();
  return {
    sign: (userId: number, jti: string): Promise<string> =>
      new SignJWT()
        .setProtectedHeader({ alg: algorithm, typ: type })
        .setSubject(String(userId))
        .setJti(jti)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(`${loginSeconds}s`)
        .sign(key),

    /** Null for anything that `sign` did not make or whose time is over. */
    read: async (token: string): Promise<Claims | null> => {
      if (token.length > maxLength) return null;
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          typ: type,
          issuer,
          audience,
          requiredClaims: ['sub', 'jti', 'iat', 'exp'],
          maxTokenAge: loginSeconds,
        });
        // jose checks the types of the times alone.
        const { sub, jti, iat = 0 } = payload as Record<'sub' | 'jti', unknown> & { iat?: number };
        if (typeof sub !== 'string' || !/^[1-9]\d{0,15}$/.test(sub)) return null;
        if (typeof jti !== 'string' || !uuidPattern.test(jti)) return null;
        return { userId: Number(sub), jti, aging: Date.now() / 1000 - iat > refreshAfter };
      } catch {
        return null;
      }
    },
  };
};
