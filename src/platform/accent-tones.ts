/** Colours to start from: what the settings offer, and what was saved by name before any could be had. */
const namedAccents = {
  blue: '#2563eb',
  green: '#15803d',
  purple: '#7c3aed',
  red: '#c22f2f',
  orange: '#b4540a',
} as const;

/** The same to choose from. */
export const accentChoices = [
  { value: namedAccents.blue, label: '蓝', colour: namedAccents.blue },
  { value: namedAccents.green, label: '绿', colour: namedAccents.green },
  { value: namedAccents.purple, label: '紫', colour: namedAccents.purple },
  { value: namedAccents.red, label: '红', colour: namedAccents.red },
  { value: namedAccents.orange, label: '橙', colour: namedAccents.orange },
] as const;

/** AA for text of any size. */
const enough = 4.5;
/** The darkest of the light grounds that a word in the accent stands on, and the lightest of the dark. */
const lightGround = '#dfe9f3';
const darkGround = '#2e2e31';
/** What stands on the accent: --on-accent of each. */
const onLight = '#ffffff';
const onDark = '#0a1424';

type Rgb = readonly [number, number, number];

const read = (hex: string): Rgb => {
  const whole = Number.parseInt(hex.slice(1), 16);
  return [whole >> 16, (whole >> 8) & 255, whole & 255];
};
const write = (rgb: Rgb): string =>
  `#${rgb.map((each) => Math.round(each).toString(16).padStart(2, '0')).join('')}`;
/** `share` of `to`, the rest of `from`. */
const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  [0, 1, 2].map((at) => (from[at] ?? 0) * (1 - share) + (to[at] ?? 0) * share) as unknown as Rgb;

const luminance = (rgb: Rgb): number => {
  const [red = 0, green = 0, blue = 0] = rgb.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** Of two colours as `#rrggbb`, from 1 to 21, as WCAG counts it. */
export const contrastOf = (one: string, other: string): number => {
  const [low = 0, high = 0] = [luminance(read(one)), luminance(read(other))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

const softOf = (accent: Rgb, dark: boolean): Rgb =>
  dark ? mix(read('#121a24'), accent, 0.16) : mix(accent, read('#ffffff'), 0.9);

const holds = (accent: Rgb, dark: boolean): boolean => {
  const colour = write(accent);
  return [
    dark ? darkGround : lightGround,
    dark ? onDark : onLight,
    write(softOf(accent, dark)),
  ].every((other) => contrastOf(colour, other) >= enough);
};

/** The accent, pressed, and as a soft ground, as `#rrggbb`. */
export type Tones = readonly [accent: string, press: string, soft: string];

const tonesIn = (wanted: Rgb, dark: boolean): Tones => {
  const end = read(dark ? '#ffffff' : '#000000');
  let accent = wanted;
  // Towards the end of the scale every colour holds: a hundred steps always reach it.
  for (let step = 1; step <= 100 && !holds(accent, dark); step += 1)
    accent = mix(wanted, end, step / 100);
  return [write(accent), write(mix(accent, end, 0.18)), write(softOf(accent, dark))];
};

/** Of a name: its colour. */
export const colourOf = (accent: string): string =>
  (namedAccents as Record<string, string>)[accent] ?? accent;

/**
 * Of any colour, as near to it as its words can be read: in light themes and in dark ones. None for what
 * is no colour, and for the empty one, which means the theme's own.
 */
export const tonesOf = (accent: string): readonly string[] => {
  const hex = colourOf(accent);
  if (!/^#[\da-f]{6}$/i.test(hex)) return [];
  const wanted = read(hex);
  return [...tonesIn(wanted, false), ...tonesIn(wanted, true)];
};
