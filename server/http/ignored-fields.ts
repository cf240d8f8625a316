import type { OpenContext } from './open-handlers.ts';

type Answer = Pick<OpenContext, 'header'>;

/** A header that names what requests gather for it, piece by piece. */
const namedIn = (header: string) => {
  const gathered = new WeakMap<object, Set<string>>();
  return (context: Answer, names: readonly string[]): void => {
    if (names.length === 0) return;
    const all = gathered.get(context) ?? new Set();
    gathered.set(context, all);
    for (const name of names) all.add(name);
    context.header(header, [...all].join(', '));
  };
};

/** Names fields that were taken and change nothing, in a header of the answer. */
export const tellIgnored = namedIn('x-ignored-fields');

/** The same of fields whose value was brought to what the service takes, such as `temperature=1`. */
export const tellAdjusted = namedIn('x-adjusted-fields');
