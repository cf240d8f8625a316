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
/** How far the clocks of two processes may lie apart, s. */
const clockTolerance = 60;

export interface Claims {
  userId: number;
  jti: string;
  /** Old enough to be answered with a fresh one. */
  aging: boolean;
}

interface Verified {
  userId: number;
  jti: string;
  /** s since 1970. */
  iat: number;
  exp: number;
}

/** Some 500 bytes each. */
const mostVerified = 5000;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Makes and reads tokens signed with a key that is derived from the secret. */
export const createTokens = (secret: string) => {
  const key = createHash('sha256').update(`queqiao token ${secret}`).digest();
  /** Tokens whose signature was checked before; whether their login runs, the database says. */
  const verified = new Map<string, Verified>();

  const verify = async (token: string): Promise<Verified | null> => {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        typ: type,
        issuer,
        audience,
        requiredClaims: ['sub', 'jti', 'iat', 'exp'],
        maxTokenAge: loginSeconds,
        clockTolerance,
      });
      // jose checks the types of the times alone.
      const { sub, jti } = payload as Record<'sub' | 'jti', unknown>;
      const { iat = 0, exp = 0 } = payload;
      if (typeof sub !== 'string' || !/^[1-9]\d{0,15}$/.test(sub)) return null;
      if (typeof jti !== 'string' || !uuidPattern.test(jti)) return null;
      return { userId: Number(sub), jti, iat, exp: Math.min(exp, iat + loginSeconds) };
    } catch {
      return null;
    }
  };

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
      const now = Date.now() / 1000;
      let found = verified.get(token);
      if (found && found.exp <= now) {
        verified.delete(token);
        return null;
      }
      if (!found) {
        const fresh = await verify(token);
        if (!fresh) return null;
        if (verified.size >= mostVerified) verified.clear();
        verified.set(token, fresh);
        found = fresh;
      }
      return { userId: found.userId, jti: found.jti, aging: now - found.iat > refreshAfter };
    },
  };
};
