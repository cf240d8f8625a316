import type { FastifyInstance } from 'fastify';
import { failSpan, tracedFrom } from '../tracing.ts';

/** Each request to a call as a trace, until its answer has gone or its asker has. Files of the page are none. */
export const traceRequests = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, reply, done) => {
    const { config, url, method } = request.routeOptions;
    if (config.call === undefined) {
      done();
      return;
    }
    const about = {
      'http.request.method': request.method,
      'http.route': url ?? '',
      'queqiao.request': request.id,
    };
    tracedFrom(`${String(method)} ${url ?? ''}`, about, (span) => {
      reply.raw.once('close', () => {
        span.setAttribute('http.response.status_code', reply.statusCode);
        if (reply.statusCode >= 500) failSpan(span, String(reply.statusCode));
        span.end();
      });
      done();
    });
  });
};
