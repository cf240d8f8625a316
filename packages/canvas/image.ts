import { mix } from './chance.ts';
import {
  paintBalloons,
  paintBoats,
  paintBridge,
  paintCastle,
  paintCity,
  paintHouses,
  paintLanterns,
  paintLighthouse,
  paintPagoda,
  paintTrain,
} from './built.ts';
import {
  paintBirds,
  paintButterflies,
  paintCat,
  paintCranes,
  paintDeer,
  paintDog,
  paintHorse,
  paintMagpieBridge,
  paintPeople,
  paintPond,
} from './creatures.ts';
import { finish, paintFog, paintRainfall, paintSnowfall } from './finish.ts';
import {
  paintBank,
  paintGround,
  paintIsland,
  paintMountains,
  paintVolcano,
  type Ridge,
} from './land.ts';
import {
  footOn,
  paintBamboo,
  paintBlades,
  paintBlossom,
  paintFlowers,
  paintForest,
  paintLeaves,
  paintLotus,
  paintPalms,
  paintPine,
  paintTree,
  paintWillow,
} from './plants.ts';
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
import {
  paintAbstract,
  paintCup,
  paintFire,
  paintPortrait,
  paintWaterfall,
  paintWindow,
} from './special.ts';
import { applyStyle } from './styles.ts';
import { paintBeach, paintWater } from './water.ts';
import type { Subject, Wish } from './words.ts';

/** One layer of an image; its share of the work is about so large beside the others'. */
export interface Layer {
  share: number;
  paint: () => void;
}

/** Stand alone and large against the light. */
const figures: readonly Subject[] = ['cat', 'dog', 'horse', 'deer', 'people'];
/** Open land or water reaches to the horizon. */
const openLand: readonly Subject[] = [
  'sea',
  'beach',
  'desert',
  'grass',
  'flower',
  'lavender',
  'sunflower',
  'train',
];
/** Stand on the ground. */
const standing: readonly Subject[] = ['tree', 'pine', 'house', 'pagoda', 'castle', 'fire', 'leaf'];

const landscape = (scene: Scene): Layer[] => {
  const { look, has, water, canvas, focus } = scene;
  const { width, height, unit } = canvas;
  const layers: Layer[] = [];
  const add = (share: number, wanted: boolean, paint: (scene: Scene) => void) => {
    if (wanted) layers.push({ share, paint: () => paint(scene) });
  };
  const colour = !look.ink;
  const night = look.hour === 'night' && colour;
  let mountains: Ridge[] = [];
  let ground: Ridge[] = [];
  let bank: Ridge | null = null;
  /** Where a thing of the middle distance stands. */
  const floor = (x: number): number => {
    const near = ground[1] ?? null;
    if (near) return footOn(near, x) + unit * 0.02;
    if (water) return scene.horizon + unit * 0.012;
    const last = mountains.at(-1);
    return last ? footOn(last, x) + unit * 0.02 : scene.horizon;
  };
  const front = (x: number): number =>
    bank
      ? footOn(bank, x)
      : ground.length > 2
        ? footOn(ground[2]!, x) + unit * 0.05
        : height - unit * 0.06;

  add(2, true, paintSky);
  add(2, night && !look.overcast && !look.neon, paintStars);
  add(2, has('aurora') && colour, paintAurora);
  add(1, has('planet') && colour, paintPlanet);
  add(1, true, paintLight);
  add(3, !night || look.overcast || has('cloud'), paintClouds);
  add(1, has('rainbow') && colour, paintRainbow);
  add(1, has('lightning'), paintLightning);
  add(2, has('fireworks') && colour, paintFireworks);
  const open = has(...openLand);
  const heights = has('mountain', 'waterfall', 'volcano');
  add(5, heights || (!open && !has('city', 'island', 'forest')), (each) => {
    mountains = paintMountains(each);
  });
  add(2, has('volcano'), paintVolcano);
  add(2, has('island'), paintIsland);
  add(1, has('waterfall'), (each) => {
    const chief = mountains[Math.floor(mountains.length * 0.4)];
    paintWaterfall(each, chief ? footOn(chief, focus) + unit * 0.05 : each.horizon - unit * 0.3);
  });
  const bareGround =
    !water && (open || has('forest', ...standing) || (has('city') && !has('street')));
  if (!water)
    add(4, bareGround && (colour || has('desert', 'grass')), (each) => {
      ground = paintGround(each);
    });
  add(4, has('city'), paintCity);
  add(1, has('pagoda'), (each) => {
    const lone = each.wish.subjects[0] === 'pagoda';
    const x = has('mountain') && !lone ? focus + unit * 0.16 : focus;
    paintPagoda(each, x, floor(x), unit * (lone ? 0.36 : 0.2), each.chance('storeys').whole(3, 7));
  });
  add(1, has('castle'), (each) => paintCastle(each, focus, floor(focus), unit * 0.5));
  add(1, has('lighthouse'), paintLighthouse);
  add(1, has('train'), paintTrain);
  add(3, water, paintWater);
  add(1, has('bridge'), paintBridge);
  add(3, has('lotus'), paintLotus);
  add(2, has('beach') && colour, paintBeach);
  add(1, has('boat'), paintBoats);
  const nearThings = has('tree', 'pine', 'house', 'fire', ...figures);
  const lookout = (water && !has('beach', 'sea', 'lotus', 'island')) || (nearThings && !bareGround);
  add(1, lookout && (colour || nearThings), (each) => {
    bank = paintBank(each, nearThings ? (has(...figures) ? 0.15 : 0.2) : 0.09);
  });
  add(4, has('forest') && !has('bamboo'), paintForest);
  add(2, has('tree', 'leaf') && !has('forest'), (each) => {
    const x = mix(focus, width / 2, 0.1);
    paintTree(each, 'main tree', x, front(x) + unit * 0.02, unit * (bank ? 0.5 : 0.58));
  });
  add(2, has('pine') && !has('forest'), (each) => {
    const random = each.chance('pines');
    for (let at = 6; at >= 0; at -= 1) {
      const x = at === 0 ? focus : random.next() * width;
      paintPine(
        each,
        `pine ${at}`,
        x,
        front(x) + unit * 0.03,
        unit * (at === 0 ? 0.52 : random.between(0.18, 0.38)),
        at === 0 ? 0 : 0.12,
      );
    }
  });
  add(1, has('house'), (each) => {
    const x = has('tree', 'pine') ? width - focus : focus;
    paintHouses(
      each,
      x,
      (at) => front(at) + unit * 0.02,
      unit * (each.wish.subjects[0] === 'house' ? 0.2 : 0.14),
      3,
    );
  });
  add(3, has('flower', 'lavender', 'sunflower'), paintFlowers);
  add(2, has('grass') && !has('flower', 'lavender', 'sunflower') && colour, (each) => {
    const tones = [look.leaves[0]!, look.leaves[1]!, look.leaves[2]!, look.ground.lit];
    paintBlades(each, height * 0.78, 420, unit * 0.13, tones);
  });
  add(2, has('palm'), paintPalms);
  add(2, has('fire'), (each) =>
    paintFire(
      each,
      focus,
      front(focus) + unit * 0.04,
      unit * (each.wish.subjects[0] === 'fire' ? 0.34 : 0.2),
    ),
  );
  add(4, has('bamboo'), paintBamboo);
  add(2, has('willow'), paintWillow);
  add(2, has('balloon'), paintBalloons);
  const wild = look.ink && has('mountain') && scene.chance('wild geese').is(0.6);
  add(1, (has('bird') || wild) && !has('magpie-bridge'), paintBirds);
  add(1, has('crane'), paintCranes);
  add(2, has('magpie-bridge'), paintMagpieBridge);
  add(2, has('lantern'), paintLanterns);
  for (const [subject, paint, tall] of [
    ['deer', paintDeer, 0.26],
    ['horse', paintHorse, 0.27],
    ['dog', paintDog, 0.25],
    ['cat', paintCat, 0.27],
  ] as const)
    add(1, has(subject), (each) => {
      const alone = each.wish.subjects.length <= 2;
      const others = figures.filter((other) => has(other));
      const x = focus + (others.indexOf(subject) - (others.length - 1) / 2) * unit * 0.26;
      paint(each, x, front(x) + unit * 0.012, unit * tall * (alone ? 1.25 : 1));
    });
  add(1, has('people') && !has('portrait'), (each) => {
    const x = focus + (has('cat', 'dog', 'horse', 'deer') ? unit * 0.22 : 0);
    paintPeople(
      each,
      x,
      front(x) + unit * 0.01,
      unit * (each.wish.subjects.length > 2 ? 0.17 : 0.24),
      each.has('couple') ? 2 : 1,
    );
  });
  add(2, has('blossom'), paintBlossom);
  add(1, has('leaf'), paintLeaves);
  add(1, has('butterfly'), paintButterflies);
  add(1, has('fog') && colour, paintFog);
  add(2, has('rain'), paintRainfall);
  add(1, has('snow'), paintSnowfall);
  add(2, has('portrait'), paintPortrait);
  add(1, has('cup'), paintCup);
  add(1, has('window') && colour, paintWindow);
  return layers;
};

const pond = (scene: Scene): Layer[] => [
  { share: 8, paint: () => paintPond(scene) },
  ...(scene.has('blossom') ? [{ share: 3, paint: () => paintBlossom(scene) }] : []),
  ...(scene.has('rain') ? [{ share: 2, paint: () => paintRainfall(scene) }] : []),
];

const layersOf = (scene: Scene): Layer[] => {
  const { has, wish } = scene;
  if (has('fish') && !has('sea', 'mountain', 'boat', 'city', 'bridge')) return pond(scene);
  const nothing = wish.subjects.length === 0 && !wish.hour && !wish.season && wish.style !== 'ink';
  return nothing ? [{ share: 8, paint: () => paintAbstract(scene) }] : landscape(scene);
};

/** What is to be painted, layer by layer, and onto what. */
export const imageOf = (
  wish: Wish,
  seed: number,
  width: number,
  height: number,
): { scene: Scene; layers: Layer[] } => {
  const scene = sceneOf(wish, seed, width, height);
  const last = [{ share: 1, paint: () => finish(scene) }];
  if (wish.style) last.push({ share: 4, paint: () => applyStyle(scene.canvas, wish.style, seed) });
  return { scene, layers: [...layersOf(scene), ...last] };
};
