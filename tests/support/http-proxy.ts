import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/**
 * A proxy that opens tunnels and knows which connections of a service came through it. To it all
 * names of example.com are this machine's.
 */
export interface HttpProxy {
  url: string;
  /** The ports from which it connected. */
  ports: ReadonlySet<number>;
  close: () => Promise<void>;
}

export const startHttpProxy = async (): Promise<HttpProxy> => {
  const ports = new Set<number>();
  const open = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connection', (socket: Socket) => open.add(socket));
  server.on('connect', (request, client: Socket, head: Buffer) => {
    const { hostname, port } = new URL(`http://${request.url}`);
    const host = hostname.endsWith('.example.com') ? '127.0.0.1' : hostname;
    const there = connect(Number(port), host, () => {
      ports.add(there.localPort ?? 0);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      there.write(head);
      there.pipe(client);
      client.pipe(there);
    });
    open.add(there);
    there.on('error', () => client.destroy());
    client.on('error', () => there.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
};
