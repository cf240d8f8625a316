import http from 'node:http';

/**
 * An OpenAI-compatible service that costs little itself. The question says what to write:
 * `chunks=200 rate=50`. Every chunk's text is its number and the time at which it was written, such
 * as `17@1763690400000.25;`, so that a reader knows what it lacks and how late each piece is.
 * Prints its port.
 */
const now = () => performance.timeOrigin + performance.now();

const server = http.createServer((request, response) => {
  if (request.url?.endsWith('/models')) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'load', object: 'model' }] }));
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => (body += piece));
  request.on('end', () => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    const asked = /chunks=(\d+) rate=(\d+)/.exec(messages.at(-1)?.content ?? '');
    const chunks = Number(asked?.[1] ?? 5);
    const rate = Number(asked?.[2] ?? 50);
    const head =
      'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"load","choices":[{"index":0,"delta":{"content":"';
    const tail = '"},"finish_reason":null}]}\n\n';
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    let written = 0;
    const begun = now();
    const write = () => {
      const due = Math.min(chunks, 1 + Math.floor(((now() - begun) * rate) / 1000));
      while (written < due) {
        response.write(`${head}${written}@${now().toFixed(2)};${tail}`);
        written += 1;
      }
      if (written < chunks) return;
      clearInterval(timer);
      response.end(
        'data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"load","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
          `data: {"id":"chatcmpl-load","object":"chat.completion.chunk","created":1,"model":"load","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":${chunks},"total_tokens":${chunks + 10}}}\n\n` +
          'data: [DONE]\n\n',
      );
    };
    // A phase of its own, so that streams begun together do not all write in one instant.
    const timer = setInterval(write, 1000 / rate);
    response.on('close', () => clearInterval(timer));
    write();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') console.log(address.port);
});
