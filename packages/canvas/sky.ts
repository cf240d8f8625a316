import { clamp, distance, mix, smooth } from './chance.ts';
import { blend, type Colour, hex, saturate, scaleOf, shade } from './colour.ts';
import { ellipse, fill, glow, maskOf, paintMask, type Point, ribbon, round } from './raster.ts';
import type { Scene } from './scene.ts';

export const paintSky = ({ canvas, look, horizon, light, noise }: Scene): void => {
  const { rgb, width, height, unit } = canvas;
  const table = scaleOf(look.sky, 512);
  const warp = noise('sky');
  const low = look.hour === 'dawn' || look.hour === 'dusk';
  const reach = unit * (low ? 0.95 : 0.7);
  const strength = look.ink ? 0 : look.overcast ? 0.12 : low ? 0.5 : light.moon ? 0.16 : 0.28;
  for (let y = 0; y < height; y += 1) {
    const down = Math.min(1, y / horizon) ** 1.15;
    for (let x = 0; x < width; x += 1) {
      const sway = look.flat ? 0 : warp.at(x / unit, (y / unit) * 2.2) * 0.035;
      const step = Math.round(clamp(down + sway * down) * 511) * 3;
      const at = (y * width + x) * 3;
      const far = distance((x - light.x) * 0.75, y - light.y) / reach;
      const lit = far < 1 ? (1 - far) ** 2 * strength : 0;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(table[step + each]!, look.light[each]!, lit);
    }
  }
};

export const paintStars = ({ canvas, chance, noise, has, look, horizon }: Scene): void => {
  const { rgb, width, unit } = canvas;
  const many = has('stars', 'planet', 'magpie-bridge');
  const random = chance('stars');
  const cloud = noise('galaxy');
  if (many) {
    // The Milky Way: a band of dust across the sky.
    const turn = random.between(0.5, 0.95) * (random.is(0.5) ? 1 : -1);
    const cx = width * random.between(0.4, 0.6);
    const cy = horizon * random.between(0.35, 0.55);
    const dust = [hex('#8fb0e8'), hex('#d9a7d9'), hex('#f4d9b8')];
    for (let y = 0; y < horizon; y += 1)
      for (let x = 0; x < width; x += 1) {
        const dx = (x - cx) / unit;
        const dy = (y - cy) / unit;
        const across = dx * Math.sin(turn) - dy * Math.cos(turn);
        const along = dx * Math.cos(turn) + dy * Math.sin(turn);
        if (Math.abs(across) > 0.55) continue;
        const bend = across + cloud.at(along * 1.7, 3) * 0.07;
        const body = Math.exp(-((bend / 0.15) ** 2));
        if (body < 0.02) continue;
        const wisps = clamp(0.5 + cloud.fbm(along * 3, bend * 5, 5) * 1.1);
        const lane = smooth(
          0.1,
          0.45,
          Math.abs(bend + cloud.fbm(along * 4, bend * 9, 3) * 0.09) * 6,
        );
        const glowing = body * wisps * (0.3 + 0.7 * lane) * 0.62;
        const warm = smooth(-0.25, 0.5, along + cloud.at(along * 2, 9) * 0.3);
        const blue = smooth(0.35, 0.7, wisps);
        const at = (y * width + x) * 3;
        for (let each = 0; each < 3; each += 1) {
          const tone = mix(mix(dust[1]![each]!, dust[0]![each]!, blue), dust[2]![each]!, warm);
          rgb[at + each] = rgb[at + each]! + tone * glowing * (1 - rgb[at + each]!);
        }
      }
  }
  const count = Math.round(((width * horizon) / (unit * unit)) * (many ? 1500 : 420));
  const tones = ['#ffffff', '#cfe0ff', '#ffe6c4'].map(hex);
  for (let star = 0; star < count; star += 1) {
    const x = random.next() * width;
    const y = random.next() ** 1.25 * horizon;
    const size = random.next() ** 14;
    const tone = random.pick(tones);
    const strength =
      random.between(0.12, 0.6) * (1 - (y / horizon) ** 3) * (look.overcast ? 0.2 : 1);
    const radius = unit * (0.0006 + size * 0.0022);
    glow(canvas, x, y, Math.max(0.9, radius * 1.8), tone, strength + size * 0.6, 1);
    if (size > 0.45) glow(canvas, x, y, radius * 9, tone, 0.22, 3);
  }
  if (many && random.is(0.6)) {
    const x = width * random.between(0.15, 0.75);
    const y = horizon * random.between(0.08, 0.3);
    const line: Point[] = [
      [x, y],
      [x + unit * 0.2, y + unit * 0.085],
    ];
    fill(canvas, [ribbon(line, (at) => at * unit * 0.004 + 0.3)], hex('#f5f7ff'), {
      alpha: 0.75,
      soft: unit * 0.0007,
    });
  }
};

export const paintLight = ({ canvas, look, light, noise, has }: Scene): void => {
  if (!light.shown) return;
  const { unit } = canvas;
  const { x, y, size } = light;
  if (look.ink) {
    const disc = maskOf([ellipse(x, y, size, size)], canvas, unit * 0.002);
    if (light.moon) {
      fill(canvas, [ellipse(x, y, size * 2.4, size * 2.4)], hex('#8d949a'), {
        alpha: 0.34,
        soft: size * 0.65,
      });
      paintMask(canvas, disc, hex('#f8f3e6'), 0.95);
    } else paintMask(canvas, disc, look.light, 0.85);
    return;
  }
  if (light.moon) {
    glow(canvas, x, y, size * 9, look.light, 0.26, 3);
    glow(canvas, x, y, size * 3.2, look.light, 0.4, 2);
    const face = noise('moon');
    const dark = blend(look.light, look.sky[1]!, 0.3);
    const paint = (px: number, py: number, out: Float32Array) => {
      const dx = (px - x) / size;
      const dy = (py - y) / size;
      const seas = look.flat ? 0 : smooth(0.02, 0.45, face.fbm(dx * 1.35 + 4, dy * 1.35, 4) + 0.08);
      const edge = 1 - clamp(dx * dx + dy * dy) * 0.16;
      for (let at = 0; at < 3; at += 1)
        out[at] = mix(look.light[at]!, dark[at]!, seas * 0.75) * edge * 1.06;
    };
    const crescent = has('stars') && !has('moon');
    const rings = [ellipse(x, y, size, size)];
    const mask = maskOf(rings, canvas, unit * 0.0008);
    if (crescent && mask) {
      const bite = maskOf(
        [ellipse(x + size * 0.5, y - size * 0.2, size * 0.95, size * 0.95)],
        canvas,
      );
      if (bite)
        for (let my = 0; my < mask.height; my += 1)
          for (let mx = 0; mx < mask.width; mx += 1) {
            const bx = mx + mask.left - bite.left;
            const by = my + mask.top - bite.top;
            if (bx < 0 || by < 0 || bx >= bite.width || by >= bite.height) continue;
            const at = my * mask.width + mx;
            mask.values[at] = mask.values[at]! * (1 - bite.values[by * bite.width + bx]!);
          }
    }
    paintMask(canvas, mask, paint);
    return;
  }
  const hot = blend(look.light, hex('#ffffff'), 0.6);
  glow(canvas, x, y, size * 12, look.light, 0.4, 3);
  glow(canvas, x, y, size * 4, look.light, 0.55, 2);
  fill(canvas, [ellipse(x, y, size, size)], round(hot, look.light, x, y, size * 1.15), {
    soft: unit * 0.0012,
  });
};

/** Clouds lit from where the light stands, smaller towards the horizon. */
export const paintClouds = (scene: Scene): void => {
  const { canvas, look, horizon, light, noise, has, wish } = scene;
  const { rgb, width, unit } = canvas;
  if (look.ink) return;
  const wanted = has('cloud', 'rain', 'lightning') || wish.style === 'anime';
  const field = noise('clouds');
  const cover = look.overcast ? 0.62 : wanted ? 0.54 : look.hour === 'night' ? 0.3 : 0.42;
  const step = Math.max(2, Math.round(unit / 320));
  const w = Math.ceil(width / step);
  const h = Math.ceil(horizon / step);
  const thick = new Float32Array(w * h);
  const lit = new Float32Array(w * h);
  const density = (x: number, y: number): number => {
    const up = horizon - y + unit * 0.14;
    const u = ((x - width / 2) / up) * 1.15;
    const v = (unit / up) * 1.5;
    const wide = field.at(u * 0.7 + 3, v * 0.7) * 0.5;
    return field.fbm(u * 1.5 + wide, v * 2.1 + wide, 5) + 0.5;
  };
  for (let y = 0; y < h; y += 1)
    for (let x = 0; x < w; x += 1) {
      const px = x * step;
      const py = y * step;
      const here = density(px, py);
      const body = smooth(1 - cover, 1 - cover + (look.flat ? 0.03 : 0.32), here);
      if (body <= 0.003) continue;
      const dx = light.x - px;
      const dy = light.y - unit * 0.35 - py;
      const far = distance(dx, dy) || 1;
      const toward = density(px + (dx / far) * unit * 0.045, py + (dy / far) * unit * 0.045);
      const fade = smooth(0, unit * 0.1, horizon - py);
      thick[y * w + x] = body * mix(0.25, 1, fade);
      lit[y * w + x] = clamp(0.5 + (here - toward) * 1.9);
    }
  const low = look.hour === 'dawn' || look.hour === 'dusk';
  const bright = look.overcast
    ? shade(look.sky[2]!, 0.35)
    : look.hour === 'night'
      ? shade(look.sky[3]!, 0.2)
      : low
        ? blend(look.light, look.sky[2]!, 0.25)
        : hex('#ffffff');
  const dark = look.overcast
    ? shade(look.sky[0]!, -0.12)
    : low
      ? blend(look.sky[0]!, look.sky[1]!, 0.55)
      : look.hour === 'night'
        ? blend(look.sky[1]!, look.sky[2]!, 0.6)
        : blend(look.sky[1]!, hex('#dfe4ee'), 0.62);
  for (let y = 0; y < horizon; y += 1) {
    const fy = clamp(y / step, 0, h - 1.001);
    const y0 = Math.floor(fy);
    const ty = fy - y0;
    for (let x = 0; x < width; x += 1) {
      const fx = clamp(x / step, 0, w - 1.001);
      const x0 = Math.floor(fx);
      const tx = fx - x0;
      const a = y0 * w + x0;
      const b = Math.min(h - 1, y0 + 1) * w + x0;
      const near = Math.min(w - 1, x0 + 1) - x0;
      const of = (plane: Float32Array) =>
        mix(mix(plane[a]!, plane[a + near]!, tx), mix(plane[b]!, plane[b + near]!, tx), ty);
      const body = of(thick);
      if (body < 0.004) continue;
      const light01 = look.flat ? (of(lit) > 0.5 ? 0.9 : 0.45) : of(lit);
      const at = (y * width + x) * 3;
      const alpha = body * (look.flat ? 0.85 : 0.92);
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(rgb[at + each]!, mix(dark[each]!, bright[each]!, light01), alpha);
    }
  }
};

export const paintAurora = ({ canvas, noise, chance, horizon, look }: Scene): void => {
  const { rgb, width, unit } = canvas;
  const curtain = noise('aurora');
  const random = chance('aurora');
  const tones = random
    .pick([
      ['#3dffa8', '#2fd0c8', '#8a5cff'],
      ['#5dffb0', '#59e07a', '#d95cc9'],
      ['#4de8ff', '#3dff9e', '#7a6cff'],
    ])
    .map(hex);
  const table = scaleOf([tones[0]!, tones[1]!, tones[2]!], 64);
  for (let band = 0; band < 3; band += 1) {
    const base = horizon * (0.5 + band * 0.13);
    const tall = horizon * random.between(0.32, 0.5);
    const shift = random.between(0, 50);
    for (let x = 0; x < width; x += 1) {
      const u = x / unit;
      const foot =
        base +
        (curtain.fbm(u * 0.9 + shift, band, 3) + curtain.at(u * 3 + shift, band + 5) * 0.12) *
          unit *
          0.28;
      const strength =
        smooth(-0.3, 0.5, curtain.fbm(u * 1.5 + shift, band + 20, 3)) * (0.72 - band * 0.14);
      const rays = 0.6 + 0.4 * curtain.fbm(u * 16 + shift, band + 40, 3);
      const high = tall * (0.7 + 0.5 * curtain.at(u * 5 + shift, band + 60));
      for (
        let y = Math.max(0, Math.floor(foot - high));
        y < Math.min(horizon, foot + unit * 0.05);
        y += 1
      ) {
        const up = (foot - y) / high;
        const light =
          up < 0 ? Math.exp(-(((up * high) / (unit * 0.014)) ** 2)) : clamp(1 - up) ** 1.7;
        const power = light * strength * clamp(rays) * 0.85;
        const tone = Math.round(clamp(up) * 63) * 3;
        const at = (y * width + x) * 3;
        for (let each = 0; each < 3; each += 1)
          rgb[at + each] = rgb[at + each]! + table[tone + each]! * power * (1 - rgb[at + each]!);
      }
    }
  }
  glow(canvas, width / 2, horizon, unit * 0.7, blend(tones[0]!, look.haze, 0.5), 0.12, 2);
};

export const paintRainbow = ({ canvas, horizon, chance }: Scene): void => {
  const { rgb, width, unit } = canvas;
  const random = chance('rainbow');
  const cx = width * random.between(0.4, 0.6);
  const cy = horizon + unit * 0.1;
  const radius = Math.min(unit * 0.62, horizon * 0.9);
  const thick = unit * 0.075;
  const table = scaleOf(
    ['#7a4fc0', '#3f6fe0', '#3fb59a', '#8fd04f', '#f5df4f', '#f59a3f', '#e0463f'].map(hex),
  );
  for (let y = 0; y < horizon; y += 1)
    for (let x = 0; x < width; x += 1) {
      const far = (distance(x - cx, y - cy) - radius) / thick;
      if (far < -0.2 || far > 1.2) continue;
      const edge = smooth(-0.2, 0.2, far) * smooth(1.2, 0.8, far);
      const power = edge * 0.34 * smooth(0, unit * 0.25, horizon - y + unit * 0.06);
      const tone = Math.round(clamp(far) * 255) * 3;
      const at = (y * width + x) * 3;
      for (let each = 0; each < 3; each += 1)
        rgb[at + each] = mix(rgb[at + each]!, table[tone + each]!, power);
    }
};

export const paintFireworks = ({ canvas, horizon, chance, focus }: Scene): void => {
  const { width, unit } = canvas;
  const random = chance('fireworks');
  const tones = ['#ffd27a', '#ff7a8a', '#7ad0ff', '#c79aff', '#9affb0', '#fff0d0'].map(hex);
  const count = random.whole(4, 6);
  for (let burst = 0; burst < count; burst += 1) {
    const x = burst === 0 ? focus : width * random.between(0.1, 0.9);
    const y = horizon * (burst === 0 ? 0.36 : random.between(0.12, 0.62));
    const size = unit * (burst === 0 ? 0.27 : random.between(0.09, 0.19));
    const tone = random.pick(tones);
    const inner = blend(tone, hex('#ffffff'), 0.6);
    glow(canvas, x, y, size * 1.6, tone, 0.22, 2);
    const rays = random.whole(46, 80);
    const rings: Point[][] = [];
    for (let ray = 0; ray < rays; ray += 1) {
      const angle = random.next() * Math.PI * 2;
      const length = size * Math.sqrt(random.between(0.25, 1));
      const line: Point[] = [];
      for (let step = 4; step <= 12; step += 1) {
        const out = (step / 12) ** 0.8;
        line.push([
          x + Math.cos(angle) * length * out,
          y + Math.sin(angle) * length * out + out * out * size * 0.16,
        ]);
      }
      rings.push([...ribbon(line, (at) => unit * (0.0006 + 0.0022 * at))]);
      const [ex, ey] = line.at(-1)!;
      glow(canvas, ex, ey, unit * 0.009, inner, 0.9, 2);
    }
    for (const ring of rings) fill(canvas, [ring], tone, { alpha: 0.85, mode: 'screen' });
  }
};

export const paintLightning = ({ canvas, horizon, chance, focus }: Scene): void => {
  const { unit } = canvas;
  const random = chance('lightning');
  const white = hex('#f4f2ff');
  const tone = hex('#b9b6ff');
  const bolt = (x: number, y: number, to: number, width: number, lean: number): void => {
    const line: Point[] = [[x, y]];
    let px = x;
    let py = y;
    while (py < to) {
      py += unit * random.between(0.015, 0.045);
      px += unit * random.bell() * 0.035 + lean;
      line.push([px, py]);
      if (width > unit * 0.0025 && random.is(0.16))
        bolt(
          px,
          py,
          Math.min(to, py + unit * random.between(0.08, 0.2)),
          width * 0.45,
          unit * random.bell() * 0.03,
        );
    }
    const ring = ribbon(line, (at) => width * (1 - at * 0.6));
    fill(canvas, [ring], tone, { alpha: 0.8, soft: unit * 0.012, mode: 'screen' });
    fill(canvas, [ring], white, { alpha: 0.95, soft: 0.6 });
  };
  glow(canvas, focus, horizon * 0.1, unit * 0.8, tone, 0.5, 2);
  bolt(focus, 0, horizon, unit * 0.006, 0);
};

export const paintPlanet = ({ canvas, horizon, chance, noise, look, focus }: Scene): void => {
  const { unit } = canvas;
  const random = chance('planet');
  const x = focus;
  const y = horizon * random.between(0.35, 0.48);
  const size = unit * random.between(0.17, 0.23);
  const bands = noise('planet');
  const sets: Colour[][] = [
    ['#e8c79a', '#b5774f', '#f3e3c4', '#8a4f3a'].map(hex),
    ['#7fb7d9', '#3a6fae', '#cfe8f0', '#27497f'].map(hex),
    ['#c79ad9', '#7a4fa8', '#f0d3e8', '#4a2f78'].map(hex),
  ];
  const tones = scaleOf(random.pick(sets));
  const tilt = random.between(-0.5, -0.25);
  const side = Math.sign(look.sky.length) * -0.62;
  glow(canvas, x, y, size * 2, saturate(look.sky[3]!, 1.3), 0.22, 2);
  const ringed = (front: boolean) => {
    const outer = ellipse(0, 0, size * 2.05, size * 0.5);
    const inner = ellipse(0, 0, size * 1.38, size * 0.31)
      .slice()
      .reverse();
    const turn = ([px, py]: Point): Point => [
      x + px * Math.cos(tilt) - py * Math.sin(tilt),
      y + px * Math.sin(tilt) + py * Math.cos(tilt),
    ];
    const mask = maskOf([outer.map(turn), inner.map(turn)], canvas, unit * 0.001);
    if (!mask) return;
    for (let my = 0; my < mask.height; my += 1)
      for (let mx = 0; mx < mask.width; mx += 1) {
        const dx = mx + mask.left - x;
        const dy = my + mask.top - y;
        const below = dy * Math.cos(tilt) - dx * Math.sin(tilt) > 0;
        const hidden = distance(dx, dy) < size && !front;
        if (below !== front || hidden) mask.values[my * mask.width + mx] = 0;
      }
    paintMask(
      canvas,
      mask,
      (px, py, out) => {
        const dx = px - x;
        const dy = (py - y) * 4.1;
        const line = bands.at(distance(dx, dy) / (size * 0.09), 7) * 0.22;
        const tone = Math.round(clamp(0.6 + line) * 255) * 3;
        for (let at = 0; at < 3; at += 1) out[at] = tones[tone + at]! * 0.92;
      },
      0.72,
    );
  };
  ringed(false);
  paintMask(canvas, maskOf([ellipse(x, y, size, size)], canvas, unit * 0.001), (px, py, out) => {
    const dx = (px - x) / size;
    const dy = (py - y) / size;
    const v = dy * Math.cos(tilt) - dx * Math.sin(tilt);
    const u = dx * Math.cos(tilt) + dy * Math.sin(tilt);
    const swirl = bands.fbm(u * 1.6, v * 7, 4) * 0.5 + bands.at(0.5, v * 3.2) * 0.5;
    const z = Math.sqrt(Math.max(0, 1 - dx * dx - dy * dy));
    const lit = clamp(0.06 + (dx * side - dy * 0.45 + z * 0.62) * 1.05);
    const tone = Math.round(clamp(0.5 + swirl * 0.6) * 255) * 3;
    for (let at = 0; at < 3; at += 1) out[at] = tones[tone + at]! * lit;
  });
  ringed(true);
};
