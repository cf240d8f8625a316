import http from 'node:http';

/**
 * The least that a server of many readers can be: each reader of `?history_id=n` gets the chunks of
 * stream n, stamped as upstream.ts stamps them, and nothing is asked, stored or counted. The chunks
 * begin when all readers are there. Arguments: readers, chunks, chunks a second. Prints its port.
 */
const [readers = 0, chunks = 0, rate = 1] = process.argv.slice(2).map(Number);
const now = () => performance.timeOrigin + performance.now();
const streams = new Map<string, http.ServerResponse[]>();
let present = 0;

const begin = (): void => {
  for (const [at, those] of [...streams.values()].entries()) {
    let written = 0;
    const write = (): void => {
      const last = written + 1 === chunks;
      const frame =
        `id: ${written}\ndata: {"text":"${written}@${now().toFixed(2)};"}\n\n` +
        (last ? 'data: [DONE]\n\n' : '');
      for (const reader of those)
        if (last) reader.end(frame);
        else reader.write(frame);
      written += 1;
      if (last) clearInterval(timer);
    };
    let timer: NodeJS.Timeout;
    // A phase of its own, as answers have that were not asked for in one instant.
    setTimeout(() => (timer = setInterval(write, 1000 / rate)), (at / streams.size) * 1000);
  }
};

const server = http.createServer((request, response) => {
  const stream = new URL(request.url ?? '', 'http://fan').searchParams.get('history_id') ?? '';
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
  response.flushHeaders();
  streams.set(stream, [...(streams.get(stream) ?? []), response]);
  present += 1;
  if (present === readers) setTimeout(begin, 1000);
});
server.listen(0, '127.0.0.1', 8192, () => {
  const address = server.address();
  if (address && typeof address === 'object') console.log(address.port);
});
