/**
 * The order in which channels are tried: by priority, smaller first, and among the same one drawn
 * by weight, so that each comes first as often as its share of the weights. 0: only after the others.
 */
export const drawOrder = <Channel extends { priority: number; weight: number }>(
  channels: readonly Channel[],
  random: () => number = Math.random,
): Channel[] =>
  channels
    // The smallest of exponentially distributed times is each one's with the share of its rate.
    .map((channel) => ({
      channel,
      time: channel.weight > 0 ? -Math.log(1 - random()) / channel.weight : Infinity,
    }))
    .sort((a, b) =>
      a.channel.priority === b.channel.priority
        ? a.time === b.time
          ? 0
          : a.time - b.time
        : a.channel.priority - b.channel.priority,
    )
    .map(({ channel }) => channel);
