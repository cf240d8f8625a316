/** A person's name as others see it: one that looks like a telephone number has its middle hidden. */
export const maskName = (name: string): string =>
  /^\d{8,11}$/.test(name) ? `${name.slice(0, 3)}****${name.slice(-4)}` : name;
