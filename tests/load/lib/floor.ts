import http from 'node:http';

/** The least that a relay can be: passes bytes on without looking at them. Prints its port. */
const target = new URL(process.argv[2] ?? '');
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });

const server = http.createServer((request, response) => {
  const onward = http.request(
    {
      agent,
      host: target.hostname,
      port: target.port,
      path: request.url,
      method: request.method,
      headers: { 'content-type': 'application/json' },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, {
        'content-type': answer.headers['content-type'] ?? '',
      });
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') console.log(address.port);
});
