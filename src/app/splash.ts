/** On the ground of the theme, in its middle, this wide and high: the app's icon, CSS px. */
const iconSize = 128;

const drawn = async (width: number, height: number, scale: number, ground: string) => {
  const icon = new Image();
  icon.src = '/icons/icon-512.png';
  await icon.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('no canvas');
  context.fillStyle = ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const size = iconSize * scale;
  context.drawImage(icon, (canvas.width - size) / 2, (canvas.height - size) / 2, size, size);
  return canvas.toDataURL('image/png');
};

/**
 * What iOS shows while the installed app starts: it takes the images when the app is added to
 * the home screen, and only such as fit the screen to the pixel. So they are drawn here, for this
 * screen and in the colours of now, upright and lying, instead of shipping dozens.
 */
export const drawSplashScreens = async (): Promise<void> => {
  const ground = getComputedStyle(document.documentElement).getPropertyValue('--ground').trim();
  const scale = devicePixelRatio;
  const [short, long] = [
    Math.min(screen.width, screen.height),
    Math.max(screen.width, screen.height),
  ];
  for (const [orientation, width, height] of [
    ['portrait', short, long],
    ['landscape', long, short],
  ] as const) {
    const link = document.createElement('link');
    link.rel = 'apple-touch-startup-image';
    link.media = `(orientation: ${orientation})`;
    link.href = await drawn(width, height, scale, ground);
    document.head.append(link);
  }
};
