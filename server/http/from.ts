import type { FastifyRequest } from 'fastify';

/** Where a request comes from. */
export interface From {
  ip: string;
  /** Null: a proxy in front does not tell it. */
  port: number | null;
}

/** Something that was done and changed something. */
export interface Done {
  userId: number;
  call: string;
  /** By an API key. */
  byKey: boolean;
  input: unknown;
  answer: unknown;
  from: From;
}

/**
 * The address and port of whoever asks. Through a proxy that is trusted (`TRUST_PROXY`) the port is
 * what its header `x-real-port` says, as with nginx's `$remote_port`.
 */
export const fromOf = ({ ip, socket, headers }: FastifyRequest): From => {
  if (ip === socket.remoteAddress) return { ip, port: socket.remotePort ?? null };
  const told = Number(headers['x-real-port']);
  return { ip, port: Number.isInteger(told) && told > 0 && told < 65_536 ? told : null };
};
