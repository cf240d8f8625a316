import type { FastifyBaseLogger } from 'fastify';
import { type Attributes, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Settings } from './settings.ts';

/** Costs next to nothing until `startTracing` gives spans somewhere to go. */
const tracer = trace.getTracer('queqiao');

/** Marks a span as failed by the kind of its error alone: messages may hold what people wrote. */
export const failSpan = (span: Span, kind: string): void => {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
};

/** Runs work within a span of a trace, which ends with it. Attributes hold no words of people. */
export const traced = <T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> =>
  tracer.startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error instanceof Error ? error.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  });

/**
 * Begins a trace of its own and runs `work` within it; whoever gets the span ends it. What a
 * stranger sends as `traceparent` is not followed: it would decide for us what is kept.
 */
export const tracedFrom = (
  name: string,
  attributes: Attributes,
  work: (span: Span) => void,
): void => {
  const span = tracer.startSpan(name, { attributes, root: true });
  context.with(trace.setSpan(context.active(), span), work, undefined, span);
};

/** Sends traces where the settings name a collector. Gives what sends the rest and ends it. */
export const startTracing = async (
  settings: Pick<Settings, 'trace' | 'version'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<() => Promise<void>> => {
  if (settings.trace.endpoint === '') return () => Promise.resolve();
  const { exportTraces } = await import('./trace-export.ts');
  return exportTraces(settings, log);
};
