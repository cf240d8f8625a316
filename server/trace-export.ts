import { hostname } from 'node:os';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from './settings.ts';

/** `name=value,…` of OpenTelemetry's settings, values as in addresses. */
const pairsIn = (given: string): Record<string, string> =>
  Object.fromEntries(
    given
      .split(',')
      .map((pair) => pair.split(/=(.*)/s))
      .filter(([name]) => name?.trim())
      .map(([name = '', value = '']) => [name.trim(), decodeURIComponent(value.trim())]),
  );

const ignore = (): void => {};

/**
 * Sends the traces of this process to a collector by OTLP over HTTP, in batches. Loaded where the
 * settings name one. Gives what sends the rest and ends it.
 */
export const exportTraces = (
  { trace, version }: Pick<Settings, 'trace' | 'version'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): (() => Promise<void>) => {
  const tell = (message: string): void => log.warn({ message }, 'traces could not be sent');
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  );
  const exporter = new OTLPTraceExporter({
    url: `${trace.endpoint}/v1/traces`,
    headers: pairsIn(trace.headers),
    timeoutMillis: 5_000,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': trace.service,
      'service.version': version,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(trace.share) }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  provider.register();
  return () => provider.shutdown();
};
