import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { StartupError } from './db/startup-error.ts';
import type { Settings } from './settings.ts';

/**
 * Where other processes reach a server that listens at an address, best first: the machine's own
 * addresses in its networks, then the loopback, which counts on the machine of that name alone.
 */
export const reachableAt = (address: string): string => {
  const { port, hostname: host } = new URL(address);
  const own = `http://127.0.0.1:${port}#${hostname()}`;
  if (host === '127.0.0.1' || host === '[::1]') return own;
  if (host !== '0.0.0.0' && host !== '[::]') return `http://${host}:${port}`;
  const outer = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map((each) => `http://${each.address}:${port}`);
  return [...outer, own].join(',');
};

/** Why it cannot listen there, for whoever starts it; any other fault as it is. */
const unfit = (error: unknown, port: number, host: string): unknown => {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'EADDRINUSE')
    return new StartupError(`端口 ${port} 已被别的程序占用，请用 PORT 换一个，或先停下那个程序`);
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new StartupError(`不能在 ${host} 的端口 ${port} 上监听，请检查 HOST 与 PORT`);
  return error;
};

/**
 * A port that was asked for and is taken is said before a database is made and a password printed.
 * @throws StartupError
 */
export const requirePort = async ({
  port,
  host,
  portChosen,
}: Pick<Settings, 'port' | 'host' | 'portChosen'>): Promise<void> => {
  if (!portChosen || port === 0) return;
  const probe = createServer();
  try {
    await once(probe.listen({ port, host }), 'listening');
  } catch (error) {
    throw unfit(error, port, host);
  }
  probe.close();
  await once(probe, 'close');
};

/** How many ports after the usual one are tried when nobody chose one. */
const otherPorts = 20;

/**
 * Listens where the settings say; a second start beside the first takes the next port, unless one
 * was asked for. Gives the address, such as http://127.0.0.1:3000.
 */
export const listenAt = async (
  server: FastifyInstance,
  { port: first, host, portChosen }: Pick<Settings, 'port' | 'host' | 'portChosen'>,
): Promise<string> => {
  const last = portChosen ? first : first + otherPorts;
  for (let port = first; ; port += 1) {
    try {
      return await server.listen({ port, host });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE' && port < last) continue;
      throw unfit(error, port, host);
    }
  }
};
