import { paintFog, paintRainfall, paintSnowfall, finish } from './finish.ts';
import { paintBank, paintGround, paintMountains, paintVolcano } from './land.ts';
import { type Scene, sceneOf } from './scene.ts';
import {
  paintAurora,
  paintClouds,
  paintFireworks,
  paintLight,
  paintLightning,
  paintPlanet,
  paintRainbow,
  paintSky,
  paintStars,
} from './sky.ts';
import { paintBeach, paintWater } from './water.ts';
import type { Wish } from './words.ts';

/** One layer of a picture; its share of the work is about so large beside the others'. */
export interface Layer {
  share: number;
  paint: () => void;
}

const landscape = (scene: Scene): Layer[] => {
  const { look, has, water } = scene;
  const layers: Layer[] = [];
  const add = (share: number, wanted: boolean, paint: (scene: Scene) => void) => {
    if (wanted) layers.push({ share, paint: () => paint(scene) });
  };
  const night = look.hour === 'night' && !look.ink;
  add(2, true, paintSky);
  add(2, night && !look.overcast && !look.neon, paintStars);
  add(2, has('aurora') && !look.ink, paintAurora);
  add(1, has('planet') && !look.ink, paintPlanet);
  add(1, true, paintLight);
  add(3, !night || look.overcast || has('cloud'), paintClouds);
  add(1, has('rainbow') && !look.ink, paintRainbow);
  add(1, has('lightning'), paintLightning);
  add(2, has('fireworks') && !look.ink, paintFireworks);
  const open =
    has('sea', 'beach', 'desert', 'city', 'grass', 'flower', 'lavender', 'sunflower') &&
    !has('mountain', 'waterfall', 'island');
  add(5, !open, paintMountains);
  add(2, has('volcano'), paintVolcano);
  add(3, water, paintWater);
  add(2, has('beach') && !look.ink, paintBeach);
  add(4, !water && !look.ink && (open || !has('mountain')), (each) => void paintGround(each));
  add(1, water && !has('beach', 'sea') && !look.ink, (each) => void paintBank(each, 0.1));
  add(1, has('fog') && !look.ink, paintFog);
  add(2, has('rain'), paintRainfall);
  add(1, has('snow'), paintSnowfall);
  add(1, true, finish);
  return layers;
};

/** What is to be painted, layer by layer, and onto what. */
export const pictureOf = (
  wish: Wish,
  seed: number,
  width: number,
  height: number,
): { scene: Scene; layers: Layer[] } => {
  const scene = sceneOf(wish, seed, width, height);
  return { scene, layers: landscape(scene) };
};
